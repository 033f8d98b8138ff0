// The page: what is in view, and what the reader of the page does with the mouse, fingers and keys.

const $ = id => document.getElementById(id);
/** Most calls that are read to draw a view; with more, their sums are drawn. */
const MOST_DRAWN = 1_500_000;
/** Messages are drawn as arrows if there is one in so many pixels of the width, or fewer. */
const ARROW_WIDTH = 3;
const AXIS_HEIGHT = 24;
const HOST_HEIGHT = 18;

const facts = JSON.parse($("facts").textContent);
const lines = $("blocks") ? $("blocks").textContent.trim().split("\n") : null;
const timeline = new Timeline(facts, bytesOfBase64($("index").textContent.trim()), lines);
$("blocks")?.remove();
$("index").remove();

const view = { from: 0, to: timeline.end, rowHeight: 0, scroll: 0 };
let picked = null; // The number of a class, or the name of a routine.
let chosen = null; // The call of which details are shown.
let cursorRow = null; // The row that the keyboard moves along.
let entries = []; // Hosts and rows from top to bottom: { host } or { row }, with top and height.
let shownHow = "";

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

const MEASURES = {
  mpi: row => row.times.reduce((sum, time, kind) => sum + (kind === CLASS.OUTSIDE || kind === CLASS.NOT_IN_LOG ? 0 : time), 0),
  wait: row => WAIT_OF_NOTE.reduce((sum, kind) => sum + row.times[kind], 0),
  outside: row => row.times[CLASS.OUTSIDE],
  caused: row => row.delayed,
};

/** Puts rows in order, and below their hosts if that is wanted. */
function arrange() {
  const measure = MEASURES[$("sort").value];
  const byRank = (a, b) => a.process.rank - b.process.rank || a.thread - b.thread;
  const rows = [...timeline.rows].sort((a, b) => (measure ? measure(b) - measure(a) : 0) || byRank(a, b));
  const grouped = $("group").checked;
  entries = [];
  let top = 0;
  const put = (entry, height) => {
    entries.push({ ...entry, top, height });
    top += height;
  };
  const hosts = grouped ? [...new Set(rows.map(row => row.process.host))] : [null];
  for (const host of hosts) {
    if (host !== null) put({ host }, HOST_HEIGHT);
    for (const row of rows) if (host === null || row.process.host === host) put({ row }, view.rowHeight);
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
  const hosts = $("group").checked ? facts.hosts.length * HOST_HEIGHT : 0;
  view.rowHeight = Math.min(40, Math.max(3, Math.floor((rowsHeight - hosts) / timeline.rows.length)));
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

// Drawing.

function paper(canvas) {
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  return context;
}

/** Colours of classes as pixels; those that are not picked are pale. */
function pixels() {
  const ground = style("--ground");
  const isClass = typeof picked === "number";
  return Array.from({ length: CLASSES }, (_, kind) => pixelOf(classColor(kind), isClass && kind !== picked ? 0.22 : 1, ground));
}

function drawNow() {
  clampView();
  const { canvas, width, height, left, inner, scale } = frame();
  const context = paper(canvas);
  const columns = Math.max(1, Math.round(inner * scale));
  const shown = shownEntries();
  const rows = shown.filter(entry => entry.row).map(entry => entry.row);
  const { blocks, calls } = timeline.blocksIn(rows, view.from, view.to);
  const fits = timeline.hasCalls && calls <= MOST_DRAWN;
  const isRead = fits && blocks.every(block => block.times);
  context.clearRect(0, 0, canvas.width, canvas.height);
  const image = context.createImageData(canvas.width, canvas.height);
  const colors = pixels();
  const totals = new Float64Array(CLASSES);
  const width1 = (view.to - view.from) / columns;
  for (const entry of shown) {
    if (!entry.row) continue;
    const shares = new Float64Array(columns * CLASSES);
    if (isRead) sharesOfCalls(timeline, entry.row, view.from, view.to, columns, shares);
    else {
      sharesOfSlices(entry.row, view.from, view.to, columns, shares);
      addInside(timeline, entry.row, view.from, view.to, columns, shares);
    }
    for (let i = 0; i < shares.length; i++) totals[i % CLASSES] += shares[i];
    const top = Math.round((AXIS_HEIGHT + entry.top - view.scroll) * scale);
    const gap = entry.height >= 6 ? Math.max(1, Math.round(scale)) : 0;
    const rowHeight = Math.max(1, Math.round((AXIS_HEIGHT + entry.top + entry.height - view.scroll) * scale) - top - gap);
    paintRow(image, shares, columns, Math.round(left * scale), top, rowHeight, width1, colors);
  }
  context.putImageData(image, 0, 0);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, AXIS_HEIGHT);
  drawAxis(context, left, inner, height);
  drawLabels(context, shown, left, width);
  const unseen = isRead ? drawArrows(context, shown, left, inner) : 0;
  drawChosen(context, left, inner);
  drawOverview();
  showLegend(totals);
  tellView(calls, fits, isRead, unseen);
  if (fits && !isRead) read(blocks);
  else if (fits) timeline.load(blocks);
  countDurations();
}

/** Reads blocks and draws again; what is wrong is told. */
async function read(blocks) {
  try {
    if (await timeline.load(blocks)) draw();
  } catch (error) {
    timeline.files.fill(null);
    say(`Calls cannot be read: ${error.message}.`);
    draw();
  }
}

const xOf = (time, left, inner) => left + ((time - view.from) / (view.to - view.from)) * inner;

function drawAxis(context, left, inner, height) {
  const { ticks, step } = ticksIn(view.from / 1e9, view.to / 1e9, inner / 110);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const tick of ticks) {
    const x = Math.round(xOf(tick * 1e9, left, inner));
    context.fillStyle = style("--line");
    context.globalAlpha = 0.55;
    context.fillRect(x, AXIS_HEIGHT - 5, 1, height);
    context.globalAlpha = 1;
    context.fillStyle = style("--ink");
    const text = shownMoment(tick * 1e9, step * 1e9);
    const half = context.measureText(text).width / 2;
    context.textAlign = "center";
    if (x - half >= left && x + half <= left + inner) context.fillText(text, x, AXIS_HEIGHT / 2);
  }
}

/** Names of rows, as many as fit, and a mark at the row that delayed others most. */
function drawLabels(context, shown, left, width) {
  context.clearRect(0, AXIS_HEIGHT, left, context.canvas.height);
  let free = AXIS_HEIGHT;
  for (const entry of shown) {
    const top = AXIS_HEIGHT + entry.top - view.scroll;
    const middle = top + entry.height / 2;
    context.textBaseline = "middle";
    if (entry.host !== undefined) {
      context.clearRect(0, Math.max(top, AXIS_HEIGHT), width, entry.height);
      context.font = "bold 12px system-ui, sans-serif";
      context.textAlign = "left";
      context.fillStyle = style("--ink");
      if (middle > AXIS_HEIGHT) context.fillText(entry.host || "host not known", 4, middle);
      free = top + entry.height;
      continue;
    }
    const isLate = entry.row.place === facts.late;
    const isCursor = entry.row === cursorRow;
    if (isCursor) {
      context.strokeStyle = style("--focus");
      context.lineWidth = 1;
      context.strokeRect(left - 0.5, Math.max(top, AXIS_HEIGHT) - 0.5, width - left, Math.max(entry.height - 1, 1));
    }
    if (top + entry.height <= AXIS_HEIGHT || (middle - 6 < free && !isLate)) continue;
    const y = Math.max(middle, AXIS_HEIGHT + 6);
    context.font = `${isLate ? "bold " : ""}12px system-ui, sans-serif`;
    context.textAlign = "right";
    context.fillStyle = style(isLate ? "--warn" : "--ink");
    const name = left < 60 ? String(entry.row.process.rank) : entry.row.name;
    if (y - 6 < free) context.clearRect(0, y - 7, left, 14);
    context.fillText(isLate ? `\u25b6 ${name}` : name, left - 5, y);
    free = y + 7;
  }
}

/** Messages that end in view, as arrows from the call that sent to the call that received. Returns how many there are, if there are too many. */
function drawArrows(context, shown, left, inner) {
  if (!$("messages").checked) return 0;
  const most = Math.max(inner / ARROW_WIDTH, 60);
  const middles = new Map(shown.filter(entry => entry.row).map(entry => [entry.row.place, AXIS_HEIGHT + entry.top + entry.height / 2 - view.scroll]));
  const arrows = [];
  let count = 0;
  for (const { row } of shown) {
    if (!row) continue;
    for (const block of row.blocks) {
      if (!block.times || block.ended < view.from || block.open > view.to) continue;
      const { ended } = block.times;
      const [first, last] = [placeAbove(ended, view.from), placeAbove(ended, view.to)];
      const { notes } = row;
      for (let note = placeAbove(notes.call, block.before + first - 1); note < notes.call.length; note++) {
        const call = notes.call[note] - block.before;
        if (call >= last) break;
        if (notes.kind[note] !== MESSAGE || !middles.has(notes.partner[note])) continue;
        if (++count <= most) arrows.push([notes.moment[note], notes.partner[note], ended[call], row.place]);
      }
    }
  }
  if (count > most) return count;
  context.save();
  context.beginPath();
  context.rect(left, AXIS_HEIGHT, inner, context.canvas.height);
  context.clip();
  context.strokeStyle = context.fillStyle = style("--ink");
  context.globalAlpha = count > 100 ? 0.45 : 0.8;
  context.lineWidth = 1;
  for (const [from, sender, to, receiver] of arrows) {
    const [x1, y1, x2, y2] = [xOf(from, left, inner), middles.get(sender), xOf(to, left, inner), middles.get(receiver)];
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    const angle = Math.atan2(y2 - y1, x2 - x1);
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 7 * Math.cos(angle - 0.4), y2 - 7 * Math.sin(angle - 0.4));
    context.lineTo(x2 - 7 * Math.cos(angle + 0.4), y2 - 7 * Math.sin(angle + 0.4));
    context.fill();
  }
  context.restore();
  return 0;
}

function drawChosen(context, left, inner) {
  if (!chosen) return;
  const entry = entries.find(entry => entry.row === chosen.row);
  if (!entry) return;
  const [x1, x2] = [xOf(chosen.began, left, inner), xOf(chosen.ended, left, inner)];
  const top = AXIS_HEIGHT + entry.top - view.scroll;
  if (x2 < left || top + entry.height < AXIS_HEIGHT) return;
  context.strokeStyle = style("--focus");
  context.lineWidth = 2;
  const from = Math.max(x1, left);
  context.strokeRect(from - 1, top - 1, Math.max(Math.min(x2, left + inner) - from, 1) + 2, entry.height + 1);
}

let overview = null;

/** The whole run, all rows together, which stays; and a frame around what is in view. */
function drawOverview() {
  const canvas = $("overview");
  const context = paper(canvas);
  const { left, inner, scale } = frame();
  const [columns, height] = [Math.max(1, Math.round(inner * scale)), canvas.height];
  const colors = pixels();
  const key = `${columns} ${height} ${colors}`;
  if (overview?.key !== key) {
    const shares = new Float64Array(columns * CLASSES);
    for (const row of timeline.rows) {
      sharesOfSlices(row, 0, timeline.end, columns, shares);
      addInside(timeline, row, 0, timeline.end, columns, shares);
    }
    const image = context.createImageData(columns, height);
    paintRow(image, shares, columns, 0, 0, height, (timeline.end / columns) * timeline.rows.length, colors);
    overview = { key, image };
  }
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.putImageData(overview.image, Math.round(left * scale), 0);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const x = time => left + (time / timeline.end) * inner;
  const [from, to] = [x(view.from), Math.max(x(view.to), x(view.from) + 3)];
  context.fillStyle = style("--veil");
  context.fillRect(left, 0, from - left, canvas.clientHeight);
  context.fillRect(to, 0, left + inner - to, canvas.clientHeight);
  context.strokeStyle = style("--focus");
  context.lineWidth = 2;
  context.strokeRect(from + 1, 1, Math.max(to - from - 2, 1), canvas.clientHeight - 2);
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = style("--ink");
  context.fillText(left < 60 ? "all" : "whole run", left - 5, canvas.clientHeight / 2);
}

/** Says the share of each class in the rows and the time that are in view. */
function showLegend(totals) {
  const sum = totals.reduce((a, b) => a + b, 0);
  for (const button of document.querySelectorAll(".legend button")) {
    const kind = Number(button.dataset.kind);
    const share = sum > 0 ? (100 * totals[kind]) / sum : 0;
    button.querySelector("span").textContent = share > 0 && share < 0.1 ? "< 0.1 %" : `${share.toFixed(1)} %`;
    button.setAttribute("aria-pressed", String(picked === kind));
  }
}

function say(text) {
  $("status").textContent = text;
}

function tellView(calls, fits, isRead, unseen) {
  const length = view.to - view.from;
  const span = `${shownMoment(view.from, length / 100)} to ${shownMoment(view.to, length / 100)} of ${shownMoment(timeline.end, length / 100)} (${shownTime(length)})`;
  let how = "";
  if (!timeline.hasCalls) how = "sums of calls; open the log to see single calls";
  else if (!fits) how = `sums of ${calls.toLocaleString("en")} calls; zoom in to see single calls`;
  else if (!isRead) how = "reading calls";
  else how = `up to ${calls.toLocaleString("en")} calls`;
  if (unseen > 0) how += `; ${unseen.toLocaleString("en")} messages are too many for arrows, zoom in to see them`;
  $("span").textContent = `In view: ${span}; ${how}.`;
  shownHow = isRead ? "calls" : "sums";
  document.documentElement.dataset.drawn = shownHow;
}

// What is at a place, and details of a call.

function entryAt(y) {
  const at = y - AXIS_HEIGHT + view.scroll;
  return y < AXIS_HEIGHT ? undefined : entries.find(entry => entry.row && at >= entry.top && at < entry.top + entry.height);
}

/** What a row does at a moment: { kind, began, ended, block, call }, or null if its calls were not read. */
function stateAt(row, moment, reach) {
  let found = null;
  timeline.walk(row, moment - reach, moment + reach, (kind, began, ended, block, call) => {
    const distance = Math.max(began - moment, moment - ended, 0);
    // Near a call of less than a pixel, the call is meant.
    if (distance > reach || (found && (found.distance < distance || (found.distance === distance && found.call >= 0 && call < 0)))) return;
    found = { row, kind, began, ended, block, call, distance };
  });
  return found;
}

const className = kind => facts.classes[kind];

function stateWords(state) {
  if (state.call < 0) return state.block ? className(state.kind) : "a call that did not return";
  return timeline.nameOf(state.row.process, state.block.times.routine[state.call]);
}

function hover(x, y) {
  const { left, inner } = frame();
  const entry = entryAt(y);
  if (!entry || x < left) return;
  const moment = view.from + ((x - left) / inner) * (view.to - view.from);
  const pixel = (view.to - view.from) / inner;
  const at = `${entry.row.name} at ${shownMoment(moment, pixel)}`;
  const state = shownHow === "calls" ? stateAt(entry.row, moment, pixel) : null;
  if (!state) {
    say(at);
    return;
  }
  const part = state.call >= 0 ? `, ${className(state.kind)}` : "";
  say(`${at}: ${stateWords(state)}${part}, ${shownTime(state.ended - state.began)}`);
}

/** Shows what is known of a call, or of the time between calls. */
async function choose(state) {
  chosen = null;
  if (!state) {
    $("call").hidden = true;
    draw();
    return;
  }
  const { row, block, call } = state;
  const words = [];
  let [began, ended] = [state.began, state.ended];
  if (call >= 0) {
    [began, ended] = [block.times.began[call], block.times.ended[call]];
    const told = callsOf(await timeline.bytesOf(block), call + 1)[call];
    const [wait, kind] = timeline.waitOf(row, block.before + call);
    words.push(["Call", timeline.nameOf(row.process, told.routine)], ["Began", shownMoment(began, 1)], ["Took", shownTime(ended - began)]);
    if (wait > 0) words.push([`Of that ${className(kind)}`, shownTime(wait)]);
    const [about, aboutKind] = timeline.estimateOf(block, block.times, call);
    if (wait === 0 && about > 0) words.push([`Of that ${className(aboutKind)}`, `about ${shownTime(about)}, estimated from a sum of calls`]);
    const rank = number => (number === -2n ? "not known" : `rank ${number}`);
    if (told.peer !== -1n) words.push([told.number > 0n && told.tag === -1n ? "Root" : "Partner", rank(told.peer)]);
    if (told.source !== -1n) words.push(["Received from", rank(told.source)]);
    if (told.tag !== -1n) words.push(["Tag", String(told.tag)]);
    if (told.sent > 0n) words.push(["Sent", `${told.sent} B`]);
    if (told.received > 0n) words.push(["Received", `${told.received} B`]);
    const communicators = { "1": "MPI_COMM_WORLD", "2": "MPI_COMM_SELF" };
    if (told.communicator > 0n) words.push(["Communicator", communicators[told.communicator] ?? told.communicator.toString(16)]);
    if (told.number > 0n) words.push(["Collective number", String(told.number - 1n)]);
    words.push(["Call path", told.path > 0n ? `number ${told.path} of this process` : "not counted"]);
    const [from, to] = timeline.notesOf(row, block.before + call);
    for (let note = from; note < to; note++) {
      const partner = timeline.rows[row.notes.partner[note]].name;
      const moment = shownMoment(row.notes.moment[note], 1);
      const meant = [`Message from ${partner}, sent`, `${partner} posted the receive`, `${partner} came last`][row.notes.kind[note]];
      words.push([meant, `${moment}${row.notes.wait[note] > 0 ? `, waited ${shownTime(row.notes.wait[note])}` : ""}`]);
    }
  } else {
    words.push(["State", stateWords(state)], ["Class", className(state.kind)], ["Began", shownMoment(began, 1)], ["Took", block ? shownTime(ended - began) : "until the end"]);
  }
  words.unshift(["Where", `${row.name}${row.process.host ? ` on ${row.process.host}` : ""}`]);
  chosen = { ...state, began, ended };
  cursorRow = row;
  const list = $("call").querySelector("dl");
  list.replaceChildren(...words.flatMap(([name, value]) => {
    const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, detail.textContent] = [name, value];
    return [term, detail];
  }));
  $("call").hidden = false;
  draw();
}

/** Moves a call into view and chooses it. */
async function goTo(state) {
  const length = Math.max((state.ended - state.began) * 8, 2000);
  view.from = (state.began + state.ended) / 2 - length / 2;
  view.to = view.from + length;
  const entry = entries.find(entry => entry.row === state.row);
  if (entry && (entry.top < view.scroll || entry.top > view.scroll + frame().rowsHeight - entry.height)) {
    view.scroll = entry.top - frame().rowsHeight / 2;
  }
  clampView();
  await choose(state);
}

/** Chooses the next call of the row at the cursor, or the one before. */
async function step(forward) {
  const row = cursorRow ?? entries.find(entry => entry.row)?.row;
  if (!row || shownHow !== "calls") return;
  const moment = chosen && chosen.row === row ? (forward ? chosen.ended : chosen.began) : forward ? view.from : view.to;
  let next = null;
  timeline.walk(row, view.from, view.to, (kind, began, ended, block, call) => {
    if (call < 0) return;
    const state = { row, kind, began: block.times.began[call], ended: block.times.ended[call], block, call };
    const isSame = chosen?.block === block && chosen.call === call;
    if (isSame || (forward ? state.began < moment || next : state.ended > moment)) return;
    next = state;
  });
  if (next) await choose(next);
}

// Durations.

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
  const { blocks, calls } = timeline.blocksIn(rows, from, to);
  const isRead = blocks.every(block => block.times);
  $("readall").hidden = true;
  if (!isRead && !readAll) {
    panel.hidden = true;
    const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
    $("summary").textContent = timeline.hasCalls
      ? `Durations of ${calls.toLocaleString("en")} calls in view were not read.`
      : "Open the log to see durations.";
    $("readall").hidden = !timeline.hasCalls;
    $("readall").textContent = `Read them (${shownBytes(bytes)})`;
    return;
  }
  const durations = new Durations(timeline, picked);
  for (let at = 0; at < blocks.length; at += 32) {
    const part = blocks.slice(at, at + 32);
    await Promise.all(part.map(async block => {
      const times = block.times ?? (await timeline.timesOf(block));
      durations.add(block, times, from, to);
    }));
    if (!isRead) $("summary").textContent = `Reading: ${Math.round((100 * at) / blocks.length)} % of the calls in view.`;
  }
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
  $("summary").textContent = `${pickedName()}: ${count.toLocaleString("en")} times in view, ${shownTime(sum)} together; ` +
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
    line.append(...[shownTime(bin.from), shownTime(bin.to), String(bin.count), shownTime(bin.time)].map(text => cell("td", text)));
    return line;
  });
  $("bintable").replaceChildren(...body);
  const longest = summary.longest.map(found => {
    const button = cell("button", `${shownTime(found.length)}, ${found.block.row.name}, at ${shownMoment(found.began, found.length)}`);
    button.type = "button";
    button.addEventListener("click", async () => {
      await timeline.load([found.block]);
      await goTo({ row: found.block.row, kind: typeof picked === "number" ? picked : CLASS.OTHER, ...found });
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

/** Moves to the row that delayed the others most. */
function showLate() {
  cursorRow = timeline.rows[facts.late];
  const entry = entries.find(entry => entry.row === cursorRow);
  view.scroll = entry.top - frame().rowsHeight / 2;
  clampView();
  moveCursor(0);
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
wholeRun();
