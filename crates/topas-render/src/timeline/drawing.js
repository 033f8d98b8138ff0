// Draws what is in view: rows, axis, messages, and the whole run.

function paper(canvas) {
  const scale = window.devicePixelRatio || 1;
  // A canvas without a place on the screen is 0 wide, and no image is that small.
  const size = length => Math.max(1, Math.round(length * scale));
  const [width, height] = [size(canvas.clientWidth), size(canvas.clientHeight)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  return context;
}

/** Colours of classes as pixels; those that are not picked are pale. */
function pixels() {
  const ground = style("--ground");
  const isClass = typeof picked === "number";
  const share = kind => (isClass && kind !== picked ? 0.22 : 1);
  const colors = Array.from({ length: CLASSES }, (_, kind) => pixelOf(classColor(kind), share(kind), ground));
  return Uint32Array.from([...colors, pixelOf(style("--hatch"), share(CLASS.NOT_IN_LOG), ground)]);
}

function drawNow() {
  clampView();
  const { canvas, width, height, left, inner, scale } = frame();
  const context = paper(canvas);
  const columns = Math.max(1, Math.round(inner * scale));
  const shown = shownEntries();
  const rows = shown.filter(entry => entry.row).map(entry => entry.row);
  const { pieces, calls } = timeline.piecesIn(rows, view.from, view.to);
  const fits = timeline.hasCalls && calls <= MOST_DRAWN;
  const isRead = fits && pieces.every(piece => piece.times);
  wanted = fits ? pieces : [];
  if (fits) isRead ? timeline.load(wanted) : read(wanted);
  context.clearRect(0, 0, canvas.width, canvas.height);
  const image = context.createImageData(canvas.width, canvas.height);
  const colors = pixels();
  const totals = new Float64Array(CLASSES);
  const width1 = (view.to - view.from) / columns;
  const shares = new Float64Array(columns * CLASSES);
  for (const entry of shown) {
    if (!entry.row) continue;
    shares.fill(0);
    // A row whose blocks are all damaged has no calls to read.
    if (isRead && entry.row.blocks.length) sharesOfCalls(timeline, entry.row, view.from, view.to, columns, shares);
    else sharesOfSlices(entry.row, view.from, view.to, columns, shares);
    const top = Math.round((AXIS_HEIGHT + entry.top - view.scroll) * scale);
    const gap = entry.height >= 6 ? Math.max(1, Math.round(scale)) : 0;
    const rowHeight = Math.max(1, Math.round((AXIS_HEIGHT + entry.top + entry.height - view.scroll) * scale) - top - gap);
    const { kinds } = entry.row;
    paintRow(image, shares, columns, { kinds, left: Math.round(left * scale), top, height: rowHeight, width: width1, colors }, totals);
  }
  context.putImageData(image, 0, 0);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, AXIS_HEIGHT);
  drawAxis(context, left, inner, height);
  drawLabels(context, shown, left, width);
  drawStates(context, shown, left, inner);
  const unseen = isRead ? drawArrows(context, shown, left, inner) : 0;
  drawChosen(context, left, inner);
  drawOverview();
  showLegend(totals);
  tellView(isRead ? timeline.callsIn(pieces, view.from, view.to) : calls, fits, isRead, unseen);
  countDurations();
  if (!fits && timeline.hasCalls) readAhead(rows);
}

/** The pieces that the latest view needs: others are read no further. */
let wanted = [];

/** Reads pieces and draws again; what is wrong is told. */
async function read(pieces) {
  const isWanted = () => wanted === pieces;
  // The log is read while sums are drawn, and decoded when the browser has shown these.
  const shown = new Promise(resolve => setTimeout(resolve));
  try {
    await timeline.load(pieces, isWanted, shown);
    if (isWanted()) draw();
  } catch (error) {
    timeline.files.fill(null);
    say(`Calls cannot be read: ${error.message}.`);
    draw();
  }
}

const xOf = (time, left, inner) => left + ((time - view.from) / (view.to - view.from)) * inner;

function drawAxis(context, left, inner, height) {
  const { ticks, step } = ticksIn(view.from / 1e9, view.to / 1e9, inner / (inner < 600 ? 75 : 110));
  let free = left;
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
    if (x - half < free || x + half > left + inner) continue;
    context.fillText(text, x, AXIS_HEIGHT / 2);
    free = x + half + 6;
  }
}

/** Names of rows, as many as fit, and a mark at the row that delayed others most. */
function drawLabels(context, shown, left, width) {
  context.clearRect(0, AXIS_HEIGHT, left, context.canvas.height);
  let free = AXIS_HEIGHT;
  const middleOf = entry => AXIS_HEIGHT + entry.top - view.scroll + entry.height / 2;
  const late = shown.find(entry => entry.row && entry.row.place === facts.late);
  const isBesideLate = y => late && Math.abs(y - Math.max(middleOf(late), AXIS_HEIGHT + 6)) < 13;
  for (const entry of shown) {
    const top = AXIS_HEIGHT + entry.top - view.scroll;
    const middle = middleOf(entry);
    context.textBaseline = "middle";
    if (entry.heading !== undefined) {
      context.clearRect(0, Math.max(top, AXIS_HEIGHT), width, entry.height);
      context.font = "bold 12px system-ui, sans-serif";
      context.textAlign = "left";
      context.fillStyle = style("--ink");
      if (middle > AXIS_HEIGHT) context.fillText(entry.heading, 4, middle);
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
    const y = Math.max(middle, AXIS_HEIGHT + 6);
    if (top + entry.height <= AXIS_HEIGHT || (!isLate && (y - 6 < free || isBesideLate(y)))) continue;
    context.font = `${isLate ? "bold " : ""}12px system-ui, sans-serif`;
    context.textAlign = "right";
    context.fillStyle = style(isLate ? "--warn" : "--ink");
    const name = left < 60 ? String(entry.row.process.rank) : entry.row.label;
    context.fillText(isLate ? `\u25b6 ${name}` : name, left - 5, y);
    free = y + 7;
  }
}

/** Rows that are lower than this have no room for states that the program names. */
const LEAST_STATE_ROW = 12;
/** Most states that lie in one another and are drawn. */
const MOST_DEPTH = 3;

/** States that are narrower have no bracket: a line at the bottom of its place, in pixels. */
const NARROW_STATE = 4;

/** States that the program names, as brackets with their names at the bottom of rows, the outermost lowest. */
function drawStates(context, shown, left, inner) {
  if (!$("named")?.checked) return;
  context.save();
  context.beginPath();
  context.rect(left, AXIS_HEIGHT, inner, context.canvas.height);
  context.clip();
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineWidth = 1;
  const [ink, ground] = [style("--ink"), style("--ground")];
  for (const { row, top, height } of shown) {
    if (!row || height < LEAST_STATE_ROW) continue;
    const deepest = Math.min(row.states.reduce((most, state) => Math.max(most, state.depth + 1), 0), MOST_DEPTH);
    const bar = Math.max(4, Math.min(14, Math.floor(height / (deepest + 1.2))));
    const hasText = bar >= 9;
    context.font = `${Math.min(bar - 1, 11)}px system-ui, sans-serif`;
    // Of states of less than a pixel, one in each column is drawn.
    const done = new Array(MOST_DEPTH).fill(-1);
    for (const state of row.states) {
      if (state.depth >= MOST_DEPTH || state.ended < view.from || state.began > view.to) continue;
      const from = Math.max(xOf(state.began, left, inner), left);
      const to = Math.min(xOf(state.ended, left, inner), left + inner);
      if (to - from < 1 && Math.floor(to) === done[state.depth]) continue;
      done[state.depth] = Math.floor(to);
      const y = AXIS_HEIGHT + top + height - view.scroll - (state.depth + 1) * bar - 1;
      if (to - from < NARROW_STATE) {
        // Many narrow states beside one another are a line, and no wall.
        context.fillStyle = ink;
        context.globalAlpha = 0.6;
        context.fillRect(from, y + bar - 3, Math.max(to - from, 1), 2);
        context.globalAlpha = 1;
        continue;
      }
      context.fillStyle = ground;
      context.globalAlpha = 0.88;
      context.fillRect(from, y, Math.max(to - from, 1), bar - 1);
      context.globalAlpha = 1;
      context.strokeStyle = context.fillStyle = ink;
      context.strokeRect(from + 0.5, y + 0.5, to - from - 1, bar - 2);
      if (hasText && to - from > 6 + context.measureText(state.name).width) context.fillText(state.name, from + 3, y + bar / 2);
    }
  }
  context.restore();
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
    const { notes } = row;
    for (const { times, before } of timeline.piecesIn([row], view.from, view.to).pieces) {
      if (!times) continue;
      const { ended } = times;
      const [first, last] = [placeAbove(ended, view.from), placeAbove(ended, view.to)];
      for (let note = placeAbove(notes.call, before + first - 1); note < notes.call.length; note++) {
        const call = notes.call[note] - before;
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
    sharesOfSlices(timeline.all, 0, timeline.end, columns, shares);
    const image = context.createImageData(columns, height);
    const width = (timeline.end / columns) * timeline.rows.length;
    const totals = new Float64Array(CLASSES);
    paintRow(image, shares, columns, { kinds: STACK, left: 0, top: 0, height, width, colors }, totals);
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
