// What is under the pointer or the keyboard: states of rows, and what is known of a call.

function entryAt(y) {
  const at = y - AXIS_HEIGHT + view.scroll;
  return y < AXIS_HEIGHT ? undefined : entries.find(entry => entry.row && at >= entry.top && at < entry.top + entry.height);
}

/** What a row does at a moment: { kind, began, ended, piece, call }, or null if its calls were not read. */
function stateAt(row, moment, reach) {
  let found = null;
  timeline.walk(row, moment - reach, moment + reach, (kind, began, ended, piece, call) => {
    const distance = Math.max(began - moment, moment - ended, 0);
    // Near a call of less than a pixel, the call is meant.
    if (distance > reach || (found && (found.distance < distance || (found.distance === distance && found.call >= 0 && call < 0)))) return;
    found = { row, kind, began, ended, piece, call, distance };
  });
  return found;
}

const className = kind => facts.classes[kind];

/** The call that did not end, of a state behind the last event of a row: its name, or null. */
function unendedCall({ row, piece, began }) {
  const routine = piece ? null : row.tail.find(part => part.began === began)?.routine ?? null;
  return routine === null ? null : timeline.nameOf(row.process, routine);
}

function stateWords(state) {
  if (state.call < 0) {
    const unended = unendedCall(state);
    return unended ? `${unended}, which did not end` : className(state.kind);
  }
  return timeline.nameOf(state.row.process, state.piece.times.routine[state.call]);
}

function hover(x, y) {
  const { left, inner } = frame();
  const entry = entryAt(y);
  if (!entry || x < left) return;
  const moment = view.from + ((x - left) / inner) * (view.to - view.from);
  pointed = moment;
  const pixel = (view.to - view.from) / inner;
  const names = namesAt(entry.row, moment);
  const within = names.length ? ` in ${names.join(" > ")}` : "";
  const at = `${entry.row.name} at ${shownMoment(moment, pixel)}${within}`;
  const state = shownHow === "calls" ? stateAt(entry.row, moment, pixel) : null;
  if (!state) {
    say(at);
    return;
  }
  const part = state.call >= 0 || unendedCall(state) ? `, ${className(state.kind)}` : "";
  say(`${at}: ${stateWords(state)}${part}, ${shownTime(state.ended - state.began)}`);
}

/** The name of the state that a program begins or ends by a call, in whose arguments the name stands; null if the call is another. */
function namedState(routine, told) {
  if (routine !== "MPI_Pcontrol" || (told.tag !== 0n && told.tag !== 1n)) return null;
  const words = new BigUint64Array([told.sent, told.received, told.communicator]);
  const bytes = new Uint8Array(words.buffer);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end));
}

/** What a call was about, without what stands in the place of names. */
function withoutNames(routine, told) {
  if (namedState(routine, told) !== null) return { ...told, tag: -1n, sent: 0n, received: 0n, communicator: 0n };
  if (routine === "MPI_Comm_set_name") return { ...told, sent: 0n, received: 0n, number: 0n };
  return told;
}

/** What a call is on, by the kind that its routine has in the facts. */
const OBJECT_WORDS = ["Communicator", "Window", "File"];

/** A communicator, window or file of a process: the name that the program gave it, else what made it, and its number. */
function objectWords(process, number) {
  const digits = number.toString(16);
  const { names, makers } = facts.worlds[process.world];
  const maker = makers[digits] ? `made by ${makers[digits]}; ` : "";
  return names[digits] ?? `number ${digits}; ${maker}the program gave it no name that the log has`;
}

/** A call path: its functions, innermost first, as far as a profile of the run beside the log has told them. */
function pathWords(process, number) {
  if (number === 0n) return "not counted";
  return facts.pathWords[facts.paths[process.paths][number]] ?? `number ${number} of this process; no profile of the run beside the log names it`;
}

/** Shows what is known of a call, or of the time between calls. */
async function choose(state) {
  chosen = null;
  if (!state) {
    $("call").hidden = true;
    draw();
    return;
  }
  const { row, piece, call } = state;
  const words = [];
  let [began, ended] = [state.began, state.ended];
  if (call >= 0) {
    [began, ended] = [piece.times.began[call], piece.times.ended[call]];
    const told = await timeline.callOf(piece, call);
    const [wait, kind] = timeline.waitOf(row, piece.before + call);
    const routine = timeline.nameOf(row.process, told.routine);
    const named = namedState(routine, told);
    const about = withoutNames(routine, told);
    words.push(["Call", routine], ["Began", shownMoment(began, 1)], ["Took", shownTime(ended - began)]);
    if (wait > 0) words.push([`Of that ${className(kind)}`, shownTime(wait)]);
    const [estimate, estimateKind] = timeline.estimateOf(piece, piece.times, call);
    if (wait === 0 && estimate > 0) words.push([`Of that ${className(estimateKind)}`, `about ${shownTime(estimate)}, estimated from a sum of calls`]);
    const rank = number => (number === -2n ? "not known" : `rank ${number}`);
    if (about.peer !== -1n) words.push([about.number > 0n && about.tag === -1n ? "Root" : "Partner", rank(about.peer)]);
    if (about.source !== -1n) words.push(["Received from", rank(about.source)]);
    if (named !== null) words.push([told.tag === 1n ? "State begins" : "State ends", named || "the one that began last"]);
    if (about.tag !== -1n) words.push(["Tag", String(about.tag)]);
    if (about.receivedTag !== -1n) words.push(["Tag of what was received", String(about.receivedTag)]);
    if (about.sent > 0n) words.push(["Sent", `${grouped(about.sent)} B`]);
    if (about.received > 0n) words.push(["Received", `${grouped(about.received)} B`]);
    if (about.communicator > 0n) words.push([OBJECT_WORDS[timeline.objectOf(row.process, told.routine)], objectWords(row.process, about.communicator)]);
    if (about.number > 0n) words.push(["Collective number", String(about.number - 1n)]);
    words.push(["Call path", pathWords(row.process, told.path)]);
    const [from, to] = timeline.notesOf(row, piece.before + call);
    for (let note = from; note < to; note++) {
      const partner = timeline.rows[row.notes.partner[note]].name;
      const moment = shownMoment(row.notes.moment[note], 1);
      const meant = [
        `Message from ${partner}, sent`, `${partner} posted the receive`, `${partner} came last`,
        `${partner} posted its window last`, `${partner} ended its access last`,
      ][row.notes.kind[note]];
      words.push([meant, `${moment}${row.notes.wait[note] > 0 ? `, waited ${shownTime(row.notes.wait[note])}` : ""}`]);
    }
  } else {
    const isCall = unendedCall(state) !== null;
    words.push([isCall ? "Call" : "State", stateWords(state)], ["Class", className(state.kind)], ["Began", shownMoment(began, 1)], ["Took", shownTime(ended - began) + (isCall ? ", until the end of the rank" : "")]);
  }
  // A state ends where a call begins: the time between two calls lies in all states of its middle, or in none.
  const names = namesAt(row, call >= 0 ? began : (began + ended) / 2);
  if (names.length) words.unshift(["In the state", names.join(" > ")]);
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

/** Shows a time of so many ns, and the row of a state. */
function lookAt(row, from, length) {
  [view.from, view.to] = [from, from + length];
  const entry = entries.find(entry => entry.row === row);
  if (entry && (entry.top < view.scroll || entry.top > view.scroll + frame().rowsHeight - entry.height)) {
    view.scroll = entry.top - frame().rowsHeight / 2;
  }
  clampView();
}

/** Moves a call into view and chooses it. */
async function goTo(state) {
  const length = Math.max((state.ended - state.began) * 8, 2000);
  lookAt(state.row, (state.began + state.ended) / 2 - length / 2, length);
  await choose(state);
}
