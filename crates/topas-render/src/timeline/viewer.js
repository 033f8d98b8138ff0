// The page: what is in view, and what the reader of the page does with the mouse, fingers and keys.

const $ = id => document.getElementById(id);
/** Most calls that are read to draw a view; with more, their sums are drawn. */
const MOST_DRAWN = 1_000_000;
/** Messages are drawn as arrows if there is one in so many pixels of the width, or fewer. */
const ARROW_WIDTH = 3;
const AXIS_HEIGHT = 24;
const HEADING_HEIGHT = 18;

const facts = JSON.parse($("facts").textContent);
const lines = $("blocks") ? $("blocks").textContent.trim().split("\n") : null;
const timeline = new Timeline(facts, $("index").textContent.trim().split("\n"), lines);
$("blocks")?.remove();
$("index").remove();

const view = { from: 0, to: timeline.end, rowHeight: 0, scroll: 0 };
let picked = null; // The number of a class, or the name of a routine.
let chosen = null; // The call of which details are shown.
let cursorRow = null; // The row that the keyboard moves along.
let entries = []; // Headings and rows from top to bottom: { heading } or { row }, with top and height.
let shownHow = "";

/** A number with its thousands apart, as the rest of the page writes numbers: four digits are read without help. */
const grouped = number => {
  const digits = String(number);
  return digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "\u202f") : digits;
};

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const classColor = kind => style(`--class-${kind}`);

/** Runs a function once, when the browser draws next. */
function later(run) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      run();
    });
  };
}

/** Runs a function when nothing asked for it for a while. */
function calmly(run) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, 150);
  };
}

const draw = later(drawNow);
const countDurations = calmly(() => showDurations(false));

// What is shown, and where.

/** The classes of the time outside MPI, and of what is not known. */
const NOT_MPI = [CLASS.OUTSIDE, CLASS.NOT_IN_LOG, CLASS.PAUSED];

const MEASURES = {
  mpi: row => row.times.reduce((sum, time, kind) => sum + (NOT_MPI.includes(kind) ? 0 : time), 0),
  wait: row => WAITS.reduce((sum, kind) => sum + row.times[kind], 0),
  outside: row => row.times[CLASS.OUTSIDE],
  caused: row => row.delayed,
};

/** Groups of rows in order, each with its headings: by worlds, if there are several, and by hosts, if that is wanted. */
function groups() {
  const measure = MEASURES[$("sort").value];
  const byRank = (a, b) => a.process.rank - b.process.rank || a.thread - b.thread;
  const rows = [...timeline.rows].sort((a, b) => (measure ? measure(b) - measure(a) : 0) || byRank(a, b));
  const found = [];
  facts.worlds.forEach(({ words }, world) => {
    const own = rows.filter(row => row.process.world === world);
    const headings = facts.worlds.length > 1 ? [words] : [];
    if (!$("group").checked) return found.push({ headings, rows: own });
    for (const host of new Set(own.map(row => row.process.host))) {
      found.push({ headings: [...headings.splice(0), host || "host not known"], rows: own.filter(row => row.process.host === host) });
    }
  });
  return found;
}

/** Puts rows in order, and below their headings. */
function arrange() {
  entries = [];
  let top = 0;
  const put = (entry, height) => {
    entries.push({ ...entry, top, height });
    top += height;
  };
  for (const { headings, rows } of groups()) {
    for (const heading of headings) put({ heading }, HEADING_HEIGHT);
    for (const row of rows) put({ row }, view.rowHeight);
  }
}

/** The height of all entries together, in pixels. */
const wholeHeight = () => (entries.length ? entries.at(-1).top + entries.at(-1).height : 0);

/** Sizes of the canvas: of the place for labels, of the picture, and how many pixels of the screen one is. */
function frame() {
  const canvas = $("lines");
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const left = width < 600 ? 44 : 92;
  return { canvas, width, height, left, inner: width - left, rowsHeight: height - AXIS_HEIGHT, scale: window.devicePixelRatio || 1 };
}

/** Rows as high as fit, if that is high enough to be seen; few rows leave no empty space below them. */
function fitRows() {
  const canvas = $("lines");
  canvas.style.height = "";
  const { rowsHeight } = frame();
  const headings = groups().reduce((sum, group) => sum + group.headings.length * HEADING_HEIGHT, 0);
  view.rowHeight = Math.min(40, Math.max(3, Math.floor((rowsHeight - headings) / timeline.rows.length)));
  view.scroll = 0;
  arrange();
  canvas.style.height = `${Math.min(rowsHeight, wholeHeight()) + AXIS_HEIGHT}px`;
}

function clampView() {
  const length = Math.min(Math.max(view.to - view.from, 20), timeline.end);
  view.from = Math.min(Math.max(view.from, 0), timeline.end - length);
  view.to = view.from + length;
  view.scroll = Math.min(Math.max(view.scroll, 0), Math.max(0, wholeHeight() - frame().rowsHeight));
}

const shownEntries = () => {
  const { rowsHeight } = frame();
  return entries.filter(({ top, height }) => top + height > view.scroll && top < view.scroll + rowsHeight);
};

function say(text) {
  $("status").textContent = text;
}

function tellView(calls, fits, isRead, unseen) {
  const length = view.to - view.from;
  const span = `${shownMoment(view.from, length / 100)} to ${shownMoment(view.to, length / 100)} of ${shownMoment(timeline.end, length / 100)} (${shownTime(length)})`;
  let how = "";
  if (!timeline.hasCalls) how = "sums of calls; open the log to see single calls";
  else if (!fits) how = `sums of ${grouped(calls)} calls; zoom in, or make rows higher, to see single calls`;
  else if (!isRead) how = "reading calls";
  else how = `${grouped(calls)} ${calls === 1 ? "call" : "calls"}`;
  if (unseen > 0) how += `; ${grouped(unseen)} messages are too many for arrows, zoom in to see them`;
  const behind = facts.initialized;
  const isCut = behind > LONG_INIT * timeline.end && view.from > 0 && view.from <= behind && view.to === timeline.end;
  const init = isCut ? ` The picture begins where MPI_Init ends (${shownMoment(behind, length / 100)}); "Whole run" shows all.` : "";
  $("span").textContent = `In view: ${span}; ${how}.${init}`;
  shownHow = isRead ? "calls" : "sums";
  document.documentElement.dataset.drawn = shownHow;
}

// What is said of the view.

const pickedName = () => (typeof picked === "number" ? className(picked) : picked);

async function showDurations(readAll) {
  $("state").value = picked === null ? "" : typeof picked === "number" ? `class ${picked}` : `routine ${picked}`;
  const panel = $("durations");
  if (picked === null) {
    panel.hidden = true;
    $("summary").textContent = "Choose a state above, or in the list, to see how long it took how often.";
    return;
  }
  const rows = shownEntries().filter(entry => entry.row).map(entry => entry.row);
  const { from, to } = view;
  const { pieces, calls } = timeline.piecesIn(rows, from, to);
  const isRead = pieces.every(piece => piece.times);
  $("readall").hidden = true;
  if (!isRead && !readAll) {
    panel.hidden = true;
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    $("summary").textContent = timeline.hasCalls
      ? `Durations of ${grouped(calls)} calls in view were not read.`
      : "Open the log to see durations.";
    $("readall").hidden = !timeline.hasCalls;
    $("readall").textContent = `Read them (${shownBytes(bytes)})`;
    return;
  }
  const durations = new Durations(timeline, picked);
  let done = 0;
  const add = (piece, times) => {
    durations.add(piece, times, from, to);
    if (!isRead && ++done % 256 === 0) $("summary").textContent = `Reading: ${Math.round((100 * done) / pieces.length)} % of the calls in view.`;
  };
  for (const piece of pieces) if (piece.times) add(piece, piece.times);
  await timeline.readTimes(pieces.filter(piece => !piece.times), add);
  for (const row of rows) durations.addTail(row, from, to);
  const summary = durations.summary();
  if (summary.count === 0) {
    panel.hidden = true;
    $("summary").textContent = `No ${pickedName()} in view.`;
    return;
  }
  panel.hidden = false;
  drawDurations(summary);
}

function drawDurations(summary) {
  const { count, sum, least, median, mean, most } = summary;
  $("summary").textContent = `${pickedName()}: ${grouped(count)} times in view, ${shownTime(sum)} together; ` +
    `shortest ${shownTime(least)}, median ${shownTime(median)}, mean ${shownTime(mean)}, longest ${shownTime(most)}.`;
  const bins = binned(summary, Number($("bins").value), $("scale").value === "log");
  $("bincount").textContent = $("bins").value;
  const canvas = $("histogram");
  const context = paper(canvas);
  const scale = window.devicePixelRatio || 1;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const color = typeof picked === "number" ? classColor(picked) : style("--focus");
  const size = { width: canvas.clientWidth, height: canvas.clientHeight };
  drawBins(context, size, bins, { byTime: $("amount").value === "time", color, ink: style("--ink"), soft: style("--line") });
  const cell = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
  const body = bins.filter(bin => bin.count > 0).map(bin => {
    const line = document.createElement("tr");
    line.append(...[shownTime(bin.from), shownTime(bin.to), grouped(bin.count), shownTime(bin.time)].map(text => cell("td", text)));
    return line;
  });
  $("bintable").replaceChildren(...body);
  const longest = summary.longest.map(found => {
    const button = cell("button", `${shownTime(found.length)}, ${found.row.name}, at ${shownMoment(found.began, found.length)}`);
    button.type = "button";
    button.addEventListener("click", async () => {
      if (found.piece) await timeline.load([found.piece]);
      await goTo({ kind: typeof picked === "number" ? picked : CLASS.OTHER, ...found });
      $("lines").focus();
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  $("longest").replaceChildren(...longest);
}

function pick(what) {
  picked = what;
  draw();
}

// What the reader of the page does.

function zoom(factor, at = 0.5) {
  const length = view.to - view.from;
  const moment = view.from + length * at;
  pointed = moment;
  const wanted = Math.min(Math.max(length * factor, 20), timeline.end);
  view.from = moment - wanted * at;
  view.to = view.from + wanted;
  draw();
}

function zoomRows(factor, y = AXIS_HEIGHT) {
  const at = y - AXIS_HEIGHT + view.scroll;
  const share = at / (wholeHeight() || 1);
  const wanted = view.rowHeight * factor;
  view.rowHeight = Math.min(120, Math.max(1, factor > 1 ? Math.ceil(wanted) : Math.floor(wanted)));
  arrange();
  view.scroll = share * wholeHeight() - (y - AXIS_HEIGHT);
  draw();
}

function pan(share) {
  const by = (view.to - view.from) * share;
  view.from += by;
  view.to += by;
  draw();
}

function wholeRun() {
  [view.from, view.to] = [0, timeline.end];
  fitRows();
  draw();
}

/** `MPI_Init` is out of view at first if it is longer than this share of the run. */
const LONG_INIT = 0.1;

/** What is shown first: the run from the moment on at which the first rank was through a long `MPI_Init`. */
function firstView() {
  wholeRun();
  const behind = facts.initialized;
  if (behind <= LONG_INIT * timeline.end || behind >= timeline.end) return;
  // A little of `MPI_Init` remains to be seen.
  view.from = behind - (timeline.end - behind) * 0.02;
}

/** Moves to the row that delayed the others most, and to the time for which another one waited longest for it. */
async function showLate() {
  const row = (cursorRow = timeline.rows[facts.late]);
  const entry = entries.find(entry => entry.row === row);
  view.scroll = entry.top - frame().rowsHeight / 2;
  const delay = facts.delay;
  if (!delay) {
    clampView();
    return moveCursor(0);
  }
  const { from: began, to: ended } = delay;
  const around = Math.max(ended - began, 2000);
  [view.from, view.to] = [began - 1.5 * around, ended + 1.5 * around];
  clampView();
  draw();
  let state = null;
  if (timeline.hasCalls) {
    await timeline.load(timeline.piecesIn([row], began, ended).pieces);
    // What the row did for the longest part of that time.
    timeline.walk(row, began, ended, (kind, from, to, piece, call) => {
      const length = Math.min(to, ended) - Math.max(from, began);
      if (!state || length > state.length) state = { row, kind, began: from, ended: to, piece, call, length };
    });
  }
  if (state) await choose(state);
  say(`${row.name}: the longest delay that arose here ended at ${shownMoment(ended, around / 100)}; ${timeline.rows[delay.waiting].name} waited for ${shownTime(ended - began)}`);
}

function moveCursor(by) {
  const rows = entries.filter(entry => entry.row);
  const place = rows.findIndex(entry => entry.row === cursorRow);
  const entry = rows[Math.min(Math.max(place + by, 0), rows.length - 1)];
  cursorRow = entry.row;
  const { rowsHeight } = frame();
  if (entry.top < view.scroll) view.scroll = entry.top;
  if (entry.top + entry.height > view.scroll + rowsHeight) view.scroll = entry.top + entry.height - rowsHeight;
  const [times, end] = [entry.row.times, timeline.end];
  const parts = times.map((time, kind) => [time, kind]).filter(([time]) => time > 0).map(([time, kind]) => `${className(kind)} ${((100 * time) / end).toFixed(1)} %`);
  say(`${entry.row.name}: ${parts.join(", ")} of the run`);
  draw();
}

const KEYS = {
  ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
  ArrowUp: () => moveCursor(-1), ArrowDown: () => moveCursor(1),
  "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6),
  ">": () => zoomRows(1.3), "<": () => zoomRows(1 / 1.3),
  Home: wholeRun, 0: wholeRun,
  n: () => step(true), p: () => step(false),
  m: () => $("messages").click(), Escape: () => choose(null),
};

function listen() {
  const canvas = $("lines");
  canvas.addEventListener("keydown", event => {
    const run = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const { left, inner } = frame();
    const factor = 1.0015 ** Math.min(Math.max(event.deltaY || event.deltaX, -300), 300);
    if (event.shiftKey) zoomRows(1 / factor, event.offsetY);
    else zoom(factor, Math.min(Math.max((event.offsetX - left) / inner, 0), 1));
  }, { passive: false });
  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (fingers.size === 1) moved = 0;
  });
  canvas.addEventListener("pointermove", event => {
    const before = fingers.get(event.pointerId);
    if (!before) return hover(event.offsetX, event.offsetY);
    const { left, inner } = frame();
    if (fingers.size === 2) {
      // Two fingers: what is between them becomes wider or narrower.
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const [was, is] = [Math.abs(before[0] - other[0]), Math.abs(event.offsetX - other[0])];
      if (was > 20 && is > 20) zoom(was / is, ((event.offsetX + other[0]) / 2 - left) / inner);
    } else {
      pan((before[0] - event.offsetX) / inner);
      view.scroll += before[1] - event.offsetY;
    }
    moved += Math.abs(event.offsetX - before[0]) + Math.abs(event.offsetY - before[1]);
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  });
  const lift = event => fingers.delete(event.pointerId);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerup", event => {
    const isClick = fingers.size === 1 && moved < 5;
    lift(event);
    if (!isClick) return;
    const { left, inner } = frame();
    const entry = entryAt(event.offsetY);
    if (!entry) return;
    cursorRow = entry.row;
    const pixel = (view.to - view.from) / inner;
    const moment = view.from + (event.offsetX - left) * pixel;
    if (shownHow === "calls" && event.offsetX >= left) choose(stateAt(entry.row, moment, 2 * pixel));
    else moveCursor(0);
  });
  canvas.addEventListener("dblclick", event => {
    const { left, inner } = frame();
    zoom(0.25, Math.min(Math.max((event.offsetX - left) / inner, 0), 1));
  });
  const strip = $("overview");
  const jump = event => {
    if (!(event.buttons & 1) && event.type !== "pointerdown") return;
    const { left, inner } = frame();
    const middle = ((event.offsetX - left) / inner) * timeline.end;
    const half = (view.to - view.from) / 2;
    [view.from, view.to] = [middle - half, middle + half];
    draw();
  };
  strip.addEventListener("pointerdown", event => {
    strip.setPointerCapture(event.pointerId);
    jump(event);
  });
  strip.addEventListener("pointermove", jump);
  const on = (id, run, kind = "click") => $(id)?.addEventListener(kind, run);
  on("in", () => zoom(0.5));
  on("out", () => zoom(2));
  on("whole", wholeRun);
  on("late", showLate);
  on("taller", () => zoomRows(1.5));
  on("lower", () => zoomRows(1 / 1.5));
  const rearrange = () => {
    arrange();
    view.scroll = 0;
    draw();
  };
  on("sort", rearrange, "change");
  on("group", () => (fitRows(), draw()), "change");
  on("messages", draw, "change");
  if ($("named")) on("named", draw, "change");
  on("readall", () => showDurations(true));
  on("close", () => choose(null));
  for (const id of ["bins", "scale", "amount"]) on(id, () => showDurations(false), "input");
  on("state", event => {
    const [kind, name] = event.target.value.split(" ");
    pick(kind === "class" ? Number(name) : kind === "routine" ? name : null);
  }, "change");
  for (const button of document.querySelectorAll(".legend button")) {
    const kind = Number(button.dataset.kind);
    button.addEventListener("click", () => pick(picked === kind ? null : kind));
  }
  const take = async files => {
    for (const file of files) say((await timeline.open(file)) ?? `${file.name} was opened.`);
    $("opener").hidden = timeline.hasCalls;
    draw();
  };
  on("file", event => take(event.target.files), "change");
  if (lines === null) {
    addEventListener("dragover", event => event.preventDefault());
    addEventListener("drop", event => {
      event.preventDefault();
      take(event.dataTransfer.files);
    });
  }
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

/** The routines of all processes, in the list of states. */
function listRoutines() {
  const names = new Set();
  for (const table of facts.routines) for (const [name] of Object.values(table)) names.add(name);
  const group = $("routines");
  for (const name of [...names].sort()) {
    group.append(Object.assign(document.createElement("option"), { value: `routine ${name}`, textContent: name }));
  }
}

$("tools").hidden = false;
listRoutines();
listen();
firstView();
