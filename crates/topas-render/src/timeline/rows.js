// Rows as the index of the page tells them. A row is decoded when it is in view first, so that the page of a
// thousand ranks opens as fast as that of a few.

/**
 * Slices of a row: each is told by where it ends and by the sums of all classes up to there, so that any part of a row
 * is a difference. `kinds` are the classes that have any time.
 */
function slicesOf(reader, began) {
  const slices = reader.next();
  const bounds = new Float64Array(slices + 1);
  const sums = new Float64Array((slices + 1) * CLASSES);
  bounds[0] = began;
  for (let slice = 1; slice <= slices; slice++) {
    bounds[slice] = bounds[slice - 1] + reader.next();
    const [from, to] = [(slice - 1) * CLASSES, slice * CLASSES];
    const classes = reader.next();
    for (let i = 0; i < CLASSES; i++) {
      sums[to + i] = sums[from + i] + ((classes >> i) & 1 ? reader.next() : 0);
    }
  }
  const kinds = STACK.filter(kind => sums[slices * CLASSES + kind] > 0);
  return { bounds, sums, kinds };
}

/** Blocks of a row, as the log has them. */
function blocksOf(reader, number, tick, opened) {
  const blocks = [];
  let ended = 0;
  for (let count = reader.next(); count > 0; count--) {
    const [log, offset, length, calls] = [reader.next(), reader.next(), reader.next(), reader.next()];
    const began = ended + reader.next();
    const end = began + reader.next();
    const [check, shift, rest] = [reader.next(), reader.next(), reader.next()];
    const pieces = [{ place: HEAD_BYTES, clock: 0 }];
    for (let left = reader.next(); left > 0; left--) {
      const { place, clock } = pieces.at(-1);
      pieces.push({ place: place + reader.next(), clock: clock + reader.next() });
    }
    // Times are multiples of the unit, counted from the base.
    const [unit, base] = [tick * 2 ** shift, began - rest * tick];
    blocks.push({ number: number++, log, offset, length, calls, open: ended || opened, began, ended: end, check, pieces, unit, base });
    ended = end;
  }
  return blocks;
}

/** The parts of blocks that are read alone. */
function piecesOf(row, blocks, { bounds, sums }, { sliceCalls, pieceSlices }) {
  const all = [];
  let [slice, before] = [0, 0];
  for (const block of blocks) {
    // Calls are missing before a block whose first slice has time that is not in the log.
    const at = slice * CLASSES + CLASS.NOT_IN_LOG;
    const lost = sums[at + CLASSES] > sums[at];
    block.pieces.forEach(({ place, clock }, i) => {
      const next = block.pieces[i + 1];
      const first = i * pieceSlices * sliceCalls;
      const began = i > 0 ? bounds[slice] : block.open;
      const calls = (next ? first + pieceSlices * sliceCalls : block.calls) - first;
      const own = slice;
      slice += Math.max(1, Math.ceil(calls / sliceCalls));
      all.push({
        block, row, place, clock, first, calls, before, slice: own,
        length: (next ? next.place : block.length) - place, isLast: !next, open: began,
        ended: next ? bounds[slice] : block.ended, lost: i === 0 && lost, times: null, used: 0,
      });
      before += calls;
    });
  }
  return all;
}

/** What was found out about calls of a row. */
function notesOf(reader) {
  const count = reader.next();
  const notes = {
    call: new Float64Array(count), kind: new Uint8Array(count), wait: new Float64Array(count),
    partner: new Uint32Array(count), moment: new Float64Array(count),
  };
  for (let i = 0, [call, moment] = [0, 0]; i < count; i++) {
    notes.call[i] = call += reader.next();
    notes.kind[i] = reader.next();
    notes.wait[i] = reader.next();
    notes.partner[i] = reader.next();
    notes.moment[i] = moment += reader.signed();
  }
  return notes;
}

/** The states of a row that the program names. */
function statesOf(reader, names) {
  const states = [];
  for (let left = reader.next(), began = 0; left > 0; left--) {
    const [name, depth] = [names[reader.next()], reader.next()];
    began += reader.next();
    states.push({ name, depth, began, ended: began + reader.next() });
  }
  return states;
}

/** The numbers of the calls of a row in front of which measuring was paused, in their order. */
function pausesOf(reader) {
  const calls = new Float64Array(reader.next());
  for (let i = 0, call = 0; i < calls.length; i++) calls[i] = call += reader.next();
  return calls;
}

/** A thread. `line` is its line of the index. */
class Row {
  #line;
  #reader = null;
  #slices = null;
  #notes = null;
  #facts;

  constructor(facts, place, line) {
    const told = facts.rows[place];
    this.#facts = facts;
    this.#line = line;
    this.place = place;
    this.process = facts.processes[told.process];
    this.began = told.began;
    this.times = told.times;
    this.delayed = told.delayed;
    // What is known behind the last event; the routine is that of a call that did not end, or null.
    this.tail = told.tail.map(([kind, began, ended, routine]) => ({ kind, began, ended, routine }));
    this.firstBlock = told.block;
    this.thread = told.thread;
    const [rank, thread] = [`rank ${this.process.rank}`, told.several ? ` thread ${told.thread}` : ""];
    // Rows stand below the names of their worlds; elsewhere their names tell them.
    this.label = rank + thread;
    this.name = rank + (facts.worlds.length > 1 ? ` of world ${facts.worlds[this.process.world].number}` : "") + thread;
  }

  #decoded() {
    if (this.#slices) return this.#slices;
    this.#reader = new NumberReader(bytesOfBase64(this.#line));
    this.#line = null;
    const blocks = blocksOf(this.#reader, this.firstBlock, this.process.tick, this.began);
    const slices = slicesOf(this.#reader, this.began);
    this.#slices = { ...slices, blocks, pieces: piecesOf(this, blocks, slices, this.#facts) };
    return this.#slices;
  }

  /** Notes and states are only looked at beside single calls. */
  #noted() {
    if (this.#notes) return this.#notes;
    this.#decoded();
    this.#notes = { notes: notesOf(this.#reader), states: statesOf(this.#reader, this.#facts.states), pauses: pausesOf(this.#reader) };
    this.#reader = null;
    return this.#notes;
  }

  get blocks() {
    return this.#decoded().blocks;
  }
  get pieces() {
    return this.#decoded().pieces;
  }
  get bounds() {
    return this.#decoded().bounds;
  }
  get sums() {
    return this.#decoded().sums;
  }
  get kinds() {
    return this.#decoded().kinds;
  }
  get notes() {
    return this.#noted().notes;
  }
  get states() {
    return this.#noted().states;
  }

  /** Whether measuring was paused meanwhile. */
  get hasPauses() {
    return this.#noted().pauses.length > 0;
  }

  /** How many events of a row, told by their numbers, tell that measuring pauses: these are no calls that count. */
  pausesIn(from, to) {
    const { pauses } = this.#noted();
    return placeAbove(pauses, to) - placeAbove(pauses, from);
  }

  /** The class of the time in front of a call of a piece, which is told by its place in the piece. */
  classBefore(piece, call) {
    if (call === 0 && piece.lost) return CLASS.NOT_IN_LOG;
    const number = piece.before + call;
    return this.pausesIn(number - 1, number) > 0 ? CLASS.PAUSED : CLASS.OUTSIDE;
  }
}
