// The timeline: rows of threads, their blocks, slices and notes, and the calls in blocks as they are needed.

/** Numbers of the classes of time; their order is that of topasview. */
const CLASS = {
  OUTSIDE: 0, POINT_TO_POINT: 1, LATE_SENDER: 2, LATE_RECEIVER: 3, COLLECTIVE: 4, COLLECTIVE_WAIT: 5,
  ONE_SIDED: 6, FILE: 7, OTHER: 8, NOT_IN_LOG: 9, PAUSED: 10,
};
const CLASSES = 11;
/** The classes of waits. */
const WAITS = [CLASS.LATE_SENDER, CLASS.LATE_RECEIVER, CLASS.COLLECTIVE_WAIT];
/** The wait that a note of each kind tells of, by place: message, late receiver, collective, post, end of an access. */
const PLACE_OF_WAIT = [0, 1, 2, 0, 0];
const WAIT_OF_NOTE = PLACE_OF_WAIT.map(place => WAITS[place]);
const MESSAGE = 0;
/** Most calls that are kept in memory with their times. */
const MOST_CALLS = 4_000_000;
/** Parts of a log that are not further from each other, in B, are read as one. */
const NEAR = 131_072;
/** Places of logs that are read together, and how many such readings go on at the same time. */
const RUNS_AT_ONCE = 64;
const READINGS = 4;

/** Blocking sends, which wait for late receivers; other point-to-point calls wait for late senders. */
const IS_SEND = /^MPI_[BRS]?s?end(_c)?$/i;
/** Calls at windows that wait for a post or for the end of an access. */
const WAITS_AT_WINDOW = /^MPI_Win_(start|complete|wait)$/;

/**
 * The level above which all of these lengths add up to `sum`: where only the sum of waits is known, the
 * longest calls have waited.
 */
function levelAbove(lengths, sum) {
  const above = lengths.slice();
  let [count, all] = [above.length, 0];
  for (let i = 0; i < count; i++) all += above[i];
  // What is not above a level that is too low is not above the right one either.
  for (;;) {
    const level = count > 0 ? (all - sum) / count : 0;
    if (level <= 0) return 0;
    let left = 0;
    all = 0;
    for (let i = 0; i < count; i++) {
      const length = above[i];
      if (length <= level) continue;
      above[left++] = length;
      all += length;
    }
    if (left === count) return level;
    count = left;
  }
}

/** Stretches of logs in which these parts of blocks are, and where each part begins in all stretches together. */
function stretchesOf(parts) {
  const order = parts.map(({ block, from, to }, part) => ({ part, log: block.log, from: block.offset + from, to: block.offset + to }));
  order.sort((a, b) => a.log - b.log || a.from - b.from);
  const [stretches, starts] = [[], new Array(parts.length)];
  let before = 0;
  for (const { part, log, from, to } of order) {
    let last = stretches.at(-1);
    if (!last || last.log !== log || from - last.to > NEAR) {
      if (last) before += last.to - last.from;
      last = { log, from, to };
      stretches.push(last);
    }
    last.to = Math.max(last.to, to);
    starts[part] = before + from - last.from;
  }
  return { stretches, starts };
}

/** The calls of a slice that may have a wait of one class, of which only the sum is known. */
class PooledCalls {
  constructor(most) {
    this.calls = new Uint32Array(most);
    this.lengths = new Float64Array(most);
    this.count = 0;
    this.sum = 0;
  }

  add(call, length) {
    this.calls[this.count] = call;
    this.lengths[this.count++] = length;
  }

  /** Writes the estimated wait of each call to its place. */
  spread(waits) {
    const { calls, lengths, count } = this;
    const level = levelAbove(lengths.subarray(0, count), this.sum);
    for (let i = 0; i < count; i++) waits[calls[i]] = Math.max(0, lengths[i] - level);
  }
}

/** The first place in an ascending list at which a value is above `wanted`. */
function placeAbove(list, wanted, length = list.length) {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] > wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** By how much the moments of a state and of the calls around it may differ, because both are rounded, in ns. */
const ROUNDED = 2;

/** The states that the program names and in which a row is at a moment, the outermost first. */
function namesAt(row, moment) {
  return row.states.filter(state => state.began - ROUNDED <= moment && moment <= state.ended + ROUNDED).map(state => state.name);
}

/** The timeline of the page. */
class Timeline {
  /**
   * `facts` is what topasview knows; `index` the lines of the whole run and of rows; `lines` blocks in base64, if they
   * are here.
   */
  constructor(facts, index, lines) {
    this.facts = facts;
    this.end = facts.ended;
    this.all = slicesOf(new NumberReader(bytesOfBase64(index[0])), 0);
    this.rows = facts.rows.map((_, place) => new Row(facts, place, index[place + 1]));
    this.lines = lines;
    this.opened = new Map();
    this.files = facts.logs.map(() => null);
    this.tables = facts.routines.map(() => ({}));
    this.held = new Set();
    this.kept = 0;
    this.uses = 0;
  }

  /** Whether calls can be read: their blocks are in the page, or their files were opened. */
  get hasCalls() {
    return this.lines !== null || this.files.every(file => file !== null);
  }

  /** A block of a log; undefined if no row has one. */
  blockIn(log) {
    for (const row of this.rows) {
      const found = row.blocks.find(block => block.log === log);
      if (found) return found;
    }
  }

  /** Takes a file that the reader of the page has opened: a sentence on what is wrong with it, or null. */
  async open(file) {
    const named = this.facts.logs.map((log, place) => ({ log, place })).filter(({ log }) => log.bytes === file.size);
    for (const { place } of named) {
      const block = this.blockIn(place);
      if (!block) continue;
      const head = headOf(new Uint8Array(await file.slice(block.offset, block.offset + HEAD_BYTES).arrayBuffer()));
      if (head && head.check === block.check) {
        // Of a file, a browser looks at its length and time whenever a part is asked for; of a part, it does not.
        this.files[place] = file.slice();
        return null;
      }
    }
    return `${file.name} (${file.size} B) is none of the logs from which this page was made.`;
  }

  /** Bytes of blocks: of each of these `{ block, from, to }`, counted from the head of the block. */
  async bytesOf(parts) {
    if (this.lines !== null) {
      return parts.map(({ block, from, to }) => {
        const bytes = this.opened.get(block) ?? bytesOfBase64(this.lines[block.number]);
        this.opened.set(block, bytes);
        return bytes.subarray(from, to);
      });
    }
    // To a browser, one reading is far less than many, and a part of a file takes as long as the reading of NEAR bytes.
    const { stretches, starts } = stretchesOf(parts);
    const slices = stretches.map(({ log, from, to }) => this.files[log].slice(from, to));
    const all = new Uint8Array(await (slices.length === 1 ? slices[0] : new Blob(slices)).arrayBuffer());
    return parts.map(({ from, to }, i) => all.subarray(starts[i], starts[i] + to - from));
  }

  /** That the log has changed since the page was made. */
  changed(block) {
    return new Error(`${this.facts.logs[block.log].name} is not as it was when this page was made`);
  }

  /** A call of a piece with its arguments. These are differences, so its block is read from the beginning. */
  async callOf({ block, first }, call) {
    const [bytes] = await this.bytesOf([{ block, from: 0, to: block.length }]);
    const head = headOf(bytes);
    if (!head || head.check !== block.check) throw this.changed(block);
    return callsOf(bytes, first + call + 1)[first + call];
  }

  /** Pieces that overlap a time, of these rows, and how many calls they have. */
  piecesIn(rows, from, to) {
    const pieces = [];
    let calls = 0;
    for (const row of rows) {
      const all = row.pieces;
      let [low, high] = [0, all.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (all[middle].ended < from) low = middle + 1;
        else high = middle;
      }
      for (; low < all.length && all[low].open <= to; low++) {
        pieces.push(all[low]);
        calls += all[low].calls;
      }
    }
    return { pieces, calls };
  }

  /** How many calls of pieces that were read lie in a time, at least in part. */
  callsIn(pieces, from, to) {
    let count = 0;
    for (const { row, before, times: { began, ended } } of pieces) {
      const [first, last] = [placeAbove(ended, from), placeAbove(began, to)];
      if (last > first) count += last - first - row.pausesIn(before + first, before + last);
    }
    return count;
  }

  /**
   * Calls `each(piece, times)` with the times of the calls of pieces, and with what is known of their waits. Pieces
   * that follow one another are read together. Reading begins at once, and decoding when `shown` is done. Ends early
   * when `isWanted` says so.
   */
  async readTimes(pieces, each, isWanted = () => true, shown = null) {
    const runs = [];
    for (const piece of pieces) {
      const last = runs.at(-1)?.at(-1);
      if (last && last.block === piece.block && last.place + last.length === piece.place) runs.at(-1).push(piece);
      else runs.push([piece]);
    }
    const take = (run, bytes) => {
      for (const piece of run) {
        const { block, calls, clock, length, isLast } = piece;
        const from = piece.place - run[0].place;
        const own = bytes.subarray(from, from + length);
        const times = timesOf(own, calls, { base: block.base, unit: block.unit, clock });
        if (isLast ? times.end > own.length : times.end !== own.length) throw this.changed(block);
        this.estimate(piece, times);
        each(piece, times);
      }
    };
    const last = run => run[run.length - 1];
    const read = some => {
      const parts = some.map(run => ({ block: run[0].block, from: run[0].place, to: last(run).place + last(run).length }));
      const coming = this.bytesOf(parts);
      // Nobody may wait for the last one any more.
      coming.catch(() => {});
      return coming;
    };
    const batches = [];
    for (let at = 0; at < runs.length; at += RUNS_AT_ONCE) batches.push(runs.slice(at, at + RUNS_AT_ONCE));
    // Between two batches, the page answers its reader. While one is decoded, the next ones are read.
    const coming = batches.slice(0, READINGS).map(read);
    await shown;
    for (let at = 0; at < batches.length && isWanted(); at++) {
      const bytes = await coming[at];
      coming[at] = null;
      if (at + READINGS < batches.length) coming.push(read(batches[at + READINGS]));
      batches[at].forEach((run, i) => take(run, bytes[i]));
    }
  }

  /** Reads the times of calls that are not here, and lets go of those that were not used for longest. */
  async load(pieces, isWanted, shown) {
    this.uses++;
    for (const piece of pieces) piece.used = this.uses;
    const missing = pieces.filter(piece => !piece.times);
    await this.readTimes(missing, (piece, times) => {
      if (!piece.times) this.kept += piece.calls;
      piece.times = times;
      this.held.add(piece);
    }, isWanted, shown);
    if (this.kept <= MOST_CALLS) return;
    const old = [...this.held].filter(piece => piece.used < this.uses).sort((a, b) => a.used - b.used);
    for (const piece of old) {
      if (this.kept <= MOST_CALLS) break;
      this.kept -= piece.calls;
      piece.times = null;
      this.held.delete(piece);
    }
  }

  /**
   * Where there are more waits than the page has room for, those of single calls are estimated from what is
   * known exactly: the sums of slices, and the longest waits.
   */
  estimate(piece, times) {
    const { sliceCalls, leastWait } = this.facts;
    if (leastWait === 0) return;
    const { row } = piece;
    const { notes, sums } = row;
    const pools = this.poolsOf(row.process);
    times.waits = new Float32Array(piece.calls);
    const gathered = (this.gathered ??= WAITS.map(() => new PooledCalls(sliceCalls)));
    for (let from = 0, slice = piece.slice; from < piece.calls; from += sliceCalls, slice++) {
      const to = Math.min(from + sliceCalls, piece.calls);
      const first = placeAbove(notes.call, piece.before + from - 1);
      const last = placeAbove(notes.call, piece.before + to - 1);
      let waits = 0;
      for (let pool = 0; pool < WAITS.length; pool++) {
        const at = slice * CLASSES + WAITS[pool];
        let sum = sums[at + CLASSES] - sums[at];
        for (let note = first; note < last; note++) if (PLACE_OF_WAIT[notes.kind[note]] === pool) sum -= notes.wait[note];
        gathered[pool].count = 0;
        // A nanosecond or so for each call is what rounding leaves.
        gathered[pool].sum = sum <= to - from ? 0 : sum;
        waits += gathered[pool].sum;
      }
      if (waits === 0) continue;
      let note = first;
      for (let call = from; call < to; call++) {
        const pool = pools[times.routine[call]];
        if (pool < 0) continue;
        while (note < last && notes.call[note] < piece.before + call) note++;
        if (note < last && notes.call[note] === piece.before + call) continue;
        gathered[pool].add(call, times.ended[call] - times.began[call]);
      }
      for (const pool of gathered) if (pool.sum > 0) pool.spread(times.waits);
    }
  }

  /** For each routine of a process the place of its waits in `WAITS`; -1 for one that does not wait. */
  poolsOf(process) {
    const table = this.tables[process.routines];
    table.pools ??= Int8Array.from({ length: ROUTINES }, (_, routine) => {
      const [name, kind] = [this.nameOf(process, routine), this.classOf(process, routine)];
      if (kind === CLASS.COLLECTIVE || name === "MPI_Finalize") return 2;
      if (WAITS_AT_WINDOW.test(name)) return 0;
      return kind !== CLASS.POINT_TO_POINT ? -1 : IS_SEND.test(name) ? 1 : 0;
    });
    return table.pools;
  }

  /** How long a call waited by such an estimate, in ns, and the class of the wait. */
  estimateOf({ row }, { waits, routine }, call) {
    return [waits?.[call] ?? 0, WAITS[this.poolsOf(row.process)[routine[call]]]];
  }

  /** The class of the time in a routine of a process. */
  classOf(process, routine) {
    return this.facts.routines[process.routines][routine]?.[1] ?? CLASS.OTHER;
  }

  /** What the calls of a routine of a process are on: 0 a communicator, 1 a window, 2 a file. */
  objectOf(process, routine) {
    return this.facts.routines[process.routines][routine]?.[2] ?? 0;
  }

  /** The classes of the time in all routines of a process, by number. */
  classesOf(process) {
    return (this.tables[process.routines].classes ??= Uint8Array.from({ length: ROUTINES }, (_, routine) => this.classOf(process, routine)));
  }

  /** The name of a routine of a process. */
  nameOf(process, routine) {
    return this.facts.routines[process.routines][routine]?.[0] ?? `routine ${routine}`;
  }

  /** The places of the notes of a call, which is told by its number in the row: from, to. */
  notesOf(row, call) {
    const calls = row.notes.call;
    return [placeAbove(calls, call - 1), placeAbove(calls, call)];
  }

  /** How long a call waited, in ns, and the class of the wait. */
  waitOf(row, call) {
    const [from, to] = this.notesOf(row, call);
    let [wait, kind] = [0, MESSAGE];
    for (let i = from; i < to; i++) if (row.notes.wait[i] > wait) [wait, kind] = [row.notes.wait[i], row.notes.kind[i]];
    return [wait, WAIT_OF_NOTE[kind]];
  }

  /**
   * Calls `each(class, from, to, piece, call)` for all that a row does in a time, in its order, as far as
   * its pieces have been read; `call` is -1 outside of calls. A call that waited comes in two parts.
   */
  walk(row, from, to, each) {
    for (const piece of row.pieces) {
      if (piece.ended < from || piece.open > to || !piece.times) continue;
      this.walkPiece(piece, piece.times, from, to, each);
    }
    // What lies behind the last event has no piece.
    for (const { kind, began, ended } of row.tail) {
      if (began < to && ended > from) each(kind, began, ended, null, -1);
    }
  }

  /** The same of one piece, of which these are the times. */
  walkPiece(piece, times, from, to, each) {
    const { began, ended, routine } = times;
    const { row, before } = piece;
    const { notes, process } = row;
    let call = placeAbove(ended, from);
    let done = call > 0 ? ended[call - 1] : piece.open;
    let note = placeAbove(notes.call, before + call - 1);
    for (; call < piece.calls && done <= to; call++) {
      if (began[call] > done) each(row.classBefore(piece, call), done, began[call], piece, -1);
      let [wait, kind] = [0, CLASS.OTHER];
      for (; note < notes.call.length && notes.call[note] <= before + call; note++) {
        if (notes.wait[note] > wait) [wait, kind] = [notes.wait[note], WAIT_OF_NOTE[notes.kind[note]]];
      }
      if (wait === 0 && times.waits?.[call] > 0) [wait, kind] = this.estimateOf(piece, times, call);
      const split = Math.min(began[call] + wait, ended[call]);
      if (wait > 0) each(kind, began[call], split, piece, call);
      each(this.classOf(process, routine[call]), split, ended[call], piece, call);
      done = ended[call];
    }
  }
}
