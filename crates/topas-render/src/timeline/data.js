// The timeline: rows of threads, their blocks, slices and notes, and the calls in blocks as they are needed.

/** Numbers of the classes of time; their order is that of topasview. */
const CLASS = {
  OUTSIDE: 0, POINT_TO_POINT: 1, LATE_SENDER: 2, LATE_RECEIVER: 3, COLLECTIVE: 4, COLLECTIVE_WAIT: 5,
  ONE_SIDED: 6, FILE: 7, OTHER: 8, NOT_IN_LOG: 9,
};
const CLASSES = 10;
/** The class of the wait that a note of each kind tells of: message, late receiver, collective. */
const WAIT_OF_NOTE = [CLASS.LATE_SENDER, CLASS.LATE_RECEIVER, CLASS.COLLECTIVE_WAIT];
const MESSAGE = 0;
/** Most calls that are kept in memory with their times. */
const MOST_CALLS = 4_000_000;

/** Blocking sends, which wait for late receivers; other point-to-point calls wait for late senders. */
const IS_SEND = /^MPI_[BRS]?s?end(_c)?$/i;

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

/** Rows as the index of the page tells them. */
function rowsOf(facts, bytes) {
  const reader = new NumberReader(bytes);
  let block = 0;
  return facts.rows.map((told, place) => {
    const row = { ...told, place, blocks: [], process: facts.processes[told.process] };
    let [ended, calls, isFirst] = [0, 0, true];
    for (let count = reader.next(); count > 0; count--) {
      const [log, offset, length, inBlock] = [reader.next(), reader.next(), reader.next(), reader.next()];
      const began = ended + reader.next();
      if (isFirst) row.began = began;
      isFirst = false;
      const end = began + reader.next();
      row.blocks.push({
        number: block++, log, offset, length, calls: inBlock, before: calls,
        open: ended || began, began, ended: end, check: reader.next(), row, times: null, used: 0,
      });
      ended = end;
      calls += inBlock;
    }
    row.began ??= 0;
    row.ended = ended;
    row.calls = calls;
    // A slice is told by where it ends and by sums up to there, so that any part of it is a difference.
    const slices = reader.next();
    row.bounds = new Float64Array(slices + 1);
    row.sums = new Float64Array((slices + 1) * CLASSES);
    row.bounds[0] = row.began;
    for (let slice = 1; slice <= slices; slice++) {
      row.bounds[slice] = row.bounds[slice - 1] + reader.next();
      const [from, to] = [(slice - 1) * CLASSES, slice * CLASSES];
      const classes = reader.next();
      for (let i = 0; i < CLASSES; i++) {
        row.sums[to + i] = row.sums[from + i] + ((classes >> i) & 1 ? reader.next() : 0);
      }
    }
    // Calls are missing before a block whose first slice has time that is not in the log.
    let slice = 0;
    for (const block of row.blocks) {
      const at = slice * CLASSES + CLASS.NOT_IN_LOG;
      block.slice = slice;
      block.lost = row.sums[at + CLASSES] > row.sums[at];
      slice += Math.max(1, Math.ceil(block.calls / facts.sliceCalls));
    }
    const notes = reader.next();
    row.notes = {
      call: new Float64Array(notes), kind: new Uint8Array(notes), wait: new Float64Array(notes),
      partner: new Uint32Array(notes), moment: new Float64Array(notes),
    };
    for (let i = 0, [call, moment] = [0, 0]; i < notes; i++) {
      row.notes.call[i] = call += reader.next();
      row.notes.kind[i] = reader.next();
      row.notes.wait[i] = reader.next();
      row.notes.partner[i] = reader.next();
      row.notes.moment[i] = moment += reader.signed();
    }
    const states = reader.next();
    row.states = [];
    for (let i = 0, began = 0; i < states; i++) {
      const [name, depth] = [facts.states[reader.next()], reader.next()];
      began += reader.next();
      row.states.push({ name, depth, began, ended: began + reader.next() });
    }
    row.name = `rank ${row.process.rank}` + (told.several ? ` thread ${told.thread}` : "");
    return row;
  });
}

/** The states that the program names and in which a row is at a moment, the outermost first. */
function namesAt(row, moment) {
  return row.states.filter(state => state.began <= moment && moment <= state.ended).map(state => state.name);
}

/** The timeline of the page. */
class Timeline {
  /** `facts` is what topasview knows, `index` the bytes of rows, `lines` blocks in base64, if they are here. */
  constructor(facts, index, lines) {
    this.facts = facts;
    this.rows = rowsOf(facts, index);
    this.lines = lines;
    this.files = facts.logs.map(() => null);
    this.end = facts.ended;
    this.kept = 0;
    this.uses = 0;
  }

  /** Whether calls can be read: their blocks are in the page, or their files were opened. */
  get hasCalls() {
    return this.lines !== null || this.files.every(file => file !== null);
  }

  /** Takes a file that the reader of the page has opened: a sentence on what is wrong with it, or null. */
  async open(file) {
    const named = this.facts.logs.map((log, place) => ({ log, place })).filter(({ log }) => log.bytes === file.size);
    for (const { place } of named) {
      const block = this.rows.flatMap(row => row.blocks).find(block => block.log === place);
      if (!block) continue;
      const head = headOf(new Uint8Array(await file.slice(block.offset, block.offset + HEAD_BYTES).arrayBuffer()));
      if (head && head.check === block.check) {
        this.files[place] = file;
        return null;
      }
    }
    return `${file.name} (${file.size} B) is none of the logs from which this page was made.`;
  }

  /** The bytes of a block. */
  async bytesOf(block) {
    if (this.lines !== null) return bytesOfBase64(this.lines[block.number]);
    const file = this.files[block.log];
    const bytes = new Uint8Array(await file.slice(block.offset, block.offset + block.length).arrayBuffer());
    const head = headOf(bytes);
    if (!head || head.check !== block.check) throw new Error(`${file.name} is not as it was when this page was made`);
    return bytes;
  }

  /** Calls in blocks that overlap a time, of these rows: the blocks, and how many calls they have. */
  blocksIn(rows, from, to) {
    const blocks = [];
    let calls = 0;
    for (const row of rows) {
      for (const block of row.blocks) {
        if (block.ended < from || block.open > to) continue;
        blocks.push(block);
        calls += block.calls;
      }
    }
    return { blocks, calls };
  }

  /** The times of the calls of a block, with what is known of their waits. */
  async timesOf(block) {
    const times = timesOf(await this.bytesOf(block), block.calls, block.began, block.row.process.tick);
    this.estimate(block, times);
    return times;
  }

  /** Reads the times of calls, and lets go of those that were not used for longest. */
  async load(blocks) {
    this.uses++;
    const missing = [];
    for (const block of blocks) {
      block.used = this.uses;
      if (!block.times) missing.push(block);
    }
    // Several files are read at once, but not all: each of them takes memory.
    for (let at = 0; at < missing.length; at += 64) {
      await Promise.all(missing.slice(at, at + 64).map(async block => {
        const times = await this.timesOf(block);
        if (!block.times) this.kept += block.calls;
        block.times = times;
      }));
    }
    if (this.kept > MOST_CALLS) {
      const old = this.rows.flatMap(row => row.blocks).filter(block => block.times && block.used < this.uses);
      old.sort((a, b) => a.used - b.used);
      while (this.kept > MOST_CALLS && old.length) {
        const block = old.shift();
        this.kept -= block.calls;
        block.times = null;
      }
    }
    return missing.length > 0;
  }

  /**
   * Where there are more waits than the page has room for, those of single calls are estimated from what is
   * known exactly: the sums of slices, and the longest waits.
   */
  estimate(block, times) {
    const { sliceCalls, leastWait } = this.facts;
    if (leastWait === 0) return;
    const { row } = block;
    const { began, ended, routine } = times;
    const pools = this.poolsOf(row.process);
    times.waits = new Float32Array(block.calls);
    const [calls, lengths] = [new Uint32Array(sliceCalls), new Float64Array(sliceCalls)];
    for (let from = 0, slice = block.slice; from < block.calls; from += sliceCalls, slice++) {
      const to = Math.min(from + sliceCalls, block.calls);
      const first = placeAbove(row.notes.call, block.before + from - 1);
      const last = placeAbove(row.notes.call, block.before + to - 1);
      for (let pool = 0; pool < WAIT_OF_NOTE.length; pool++) {
        const at = slice * CLASSES + WAIT_OF_NOTE[pool];
        let sum = row.sums[at + CLASSES] - row.sums[at];
        for (let note = first; note < last; note++) if (row.notes.kind[note] === pool) sum -= row.notes.wait[note];
        // A nanosecond or so for each call is what rounding leaves.
        if (sum <= to - from) continue;
        let count = 0;
        let note = first;
        let told = note < last ? row.notes.call[note] - block.before : Infinity;
        for (let call = from; call < to; call++) {
          while (told < call) told = ++note < last ? row.notes.call[note] - block.before : Infinity;
          if (told === call || pools[routine[call]] !== pool) continue;
          calls[count] = call;
          lengths[count++] = ended[call] - began[call];
        }
        const level = levelAbove(lengths.subarray(0, count), sum);
        for (let i = 0; i < count; i++) times.waits[calls[i]] = Math.max(0, lengths[i] - level);
      }
    }
  }

  /** For each routine of a process the kind of note that its waits have; -1 for one that does not wait. */
  poolsOf(process) {
    process.pools ??= Int8Array.from({ length: ROUTINES }, (_, routine) => {
      const [name, kind] = [this.nameOf(process, routine), this.classOf(process, routine)];
      if (kind === CLASS.COLLECTIVE || name === "MPI_Finalize") return 2;
      return kind !== CLASS.POINT_TO_POINT ? -1 : IS_SEND.test(name) ? 1 : 0;
    });
    return process.pools;
  }

  /** How long a call waited by such an estimate, in ns, and the class of the wait. */
  estimateOf({ row }, { waits, routine }, call) {
    return [waits?.[call] ?? 0, WAIT_OF_NOTE[this.poolsOf(row.process)[routine[call]]]];
  }

  /** The class of the time in a routine of a process. */
  classOf(process, routine) {
    return this.facts.routines[process.routines][routine]?.[1] ?? CLASS.OTHER;
  }

  /** The classes of the time in all routines of a process, by number. */
  classesOf(process) {
    return (process.classes ??= Uint8Array.from({ length: ROUTINES }, (_, routine) => this.classOf(process, routine)));
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
   * Calls `each(class, from, to, block, call)` for all that a row does in a time, in its order, as far as
   * its blocks have been read; `call` is -1 outside of calls. A call that waited comes in two parts.
   */
  walk(row, from, to, each) {
    for (const block of row.blocks) {
      if (block.ended < from || block.open > to || !block.times) continue;
      this.walkBlock(block, block.times, from, to, each);
    }
    // The call in which a rank was at its end has no event.
    if (row.inside && row.inside[1] < to) {
      each(this.classOf(row.process, row.inside[0]), row.inside[1], this.end, null, -1);
    }
  }

  /** The same of one block, of which these are the times. */
  walkBlock(block, times, from, to, each) {
    const { began, ended, routine } = times;
    const { row, before } = block;
    const { notes, process } = row;
    let call = placeAbove(ended, from);
    let done = call > 0 ? ended[call - 1] : block.open;
    let note = placeAbove(notes.call, before + call - 1);
    for (; call < block.calls && done <= to; call++) {
      const gap = call === 0 && block.lost ? CLASS.NOT_IN_LOG : CLASS.OUTSIDE;
      if (began[call] > done) each(gap, done, began[call], block, -1);
      let [wait, kind] = [0, CLASS.OTHER];
      for (; note < notes.call.length && notes.call[note] <= before + call; note++) {
        if (notes.wait[note] > wait) [wait, kind] = [notes.wait[note], WAIT_OF_NOTE[notes.kind[note]]];
      }
      if (wait === 0 && times.waits?.[call] > 0) [wait, kind] = this.estimateOf(block, times, call);
      const split = Math.min(began[call] + wait, ended[call]);
      if (wait > 0) each(kind, began[call], split, block, call);
      each(this.classOf(process, routine[call]), split, ended[call], block, call);
      done = ended[call];
    }
  }
}
