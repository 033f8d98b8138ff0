// Reads what topasview wrote into the page, and blocks of event logs. doc/trace.md describes each byte of
// a block. Nothing here knows of the page, so that tests can run this file alone.

const HEAD_BYTES = 128;
const ARGUMENTS = ["peer", "tag", "sent", "received", "communicator", "path", "number", "source"];
const NO_ARGUMENTS = [-1n, -1n, 0n, 0n, 0n, 0n, 0n, -1n];
const ROUTINES = 1024;
/** In the first two bytes of an event: its arguments are not as expected; a supplement stands behind them. */
const DIFFERS = 1024;
const HAS_SUPPLEMENT = 32768;
const HAS_MORE = DIFFERS | HAS_SUPPLEMENT;

/** The bytes of a text in base64. */
function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** Reads numbers of 7 bits a byte, the lowest first, up to 2^53. */
class NumberReader {
  constructor(bytes) {
    this.bytes = bytes;
    this.place = 0;
  }
  next() {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.place++];
      if (byte === undefined) throw new Error("the index of the page ends too early");
      number += (byte & 127) * factor;
      if (byte < 128) return number;
    }
  }
  /** A number with a sign: 2d for d that is not negative, else -2d - 1. */
  signed() {
    const number = this.next();
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }
}

/** The head of a block; null if these bytes begin none. */
function headOf(bytes) {
  if (bytes.length < HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES);
  const magic = String.fromCharCode(...bytes.subarray(0, 8));
  if (magic !== "topastrc" || view.getUint16(8, true) !== 1) return null;
  return {
    content: view.getUint16(10, true),
    rank: view.getUint32(12, true),
    used: view.getUint32(16, true),
    calls: view.getUint32(20, true),
    process: view.getBigUint64(24, true),
    thread: view.getUint32(32, true),
    shift: view.getUint32(36, true),
    first: view.getBigUint64(56, true),
    check: view.getUint32(72, true),
  };
}

/** A number of 1, 2, 4 or 8 bytes, by the code of its width. */
function wideNumber(bytes, place, code) {
  if (code === 0) return bytes[place];
  if (code === 1) return bytes[place] + bytes[place + 1] * 256;
  const low = bytes[place] + bytes[place + 1] * 256 + bytes[place + 2] * 65536 + bytes[place + 3] * 16777216;
  if (code === 2) return low;
  return low + wideNumber(bytes, place + 4, 2) * 4294967296;
}

/**
 * Routines and times of so many calls in bytes of a block, without their arguments: this is the part that has to be
 * quick. `clock` is the number of units at which the first of the calls is, and times are `base` and so many units.
 * `end` is the place behind the last call.
 */
function timesOf(body, calls, { base, unit, clock }) {
  const times = {
    began: new Float64Array(calls),
    ended: new Float64Array(calls),
    routine: new Uint16Array(calls),
    end: 0,
  };
  const [begins, ends, routines] = [times.began, times.ended, times.routine];
  let place = 0;
  for (let call = 0; call < calls; call++) {
    const code = body[place] | (body[place + 1] << 8);
    place += 2;
    // Gaps and lengths of one or two bytes are the most.
    const gap = (code >> 11) & 3;
    if (gap === 0) clock += body[place++];
    else if (gap === 1) {
      clock += body[place] | (body[place + 1] << 8);
      place += 2;
    } else {
      clock += wideNumber(body, place, gap);
      place += 1 << gap;
    }
    begins[call] = base + clock * unit;
    const length = (code >> 13) & 3;
    if (length === 0) clock += body[place++];
    else if (length === 1) {
      clock += body[place] | (body[place + 1] << 8);
      place += 2;
    } else {
      clock += wideNumber(body, place, length);
      place += 1 << length;
    }
    ends[call] = base + clock * unit;
    routines[call] = code & 1023;
    if (code & HAS_MORE) {
      // Each argument that is not as expected is a number whose last byte has no bit 7.
      let changed = code & DIFFERS ? body[place++] : 0;
      for (; changed; changed &= changed - 1) while (body[place++] > 127);
      if (code & HAS_SUPPLEMENT) place += 2 + (body[place] | (body[place + 1] << 8));
    }
  }
  times.end = place;
  return times;
}

/** The rank from which a message came, and its tag, -1n if that is the tag of the call: both are in one argument. */
function partsOfSource(value) {
  const source = BigInt.asIntN(32, value);
  return [source, source === value ? -1n : BigInt.asUintN(64, value) / 4294967296n - 1n];
}

/** So many calls of a block, exactly: ticks and arguments are integers of any size. */
function callsOf(bytes, count) {
  const head = headOf(bytes);
  const body = bytes.subarray(HEAD_BYTES, HEAD_BYTES + head.used);
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const shift = BigInt(head.shift);
  const memory = new Array(ROUTINES);
  let clock = head.first >> shift;
  let place = 0;
  const number = code => {
    const from = place;
    place += 1 << code;
    if (code === 0) return BigInt(view.getUint8(from));
    if (code === 1) return BigInt(view.getUint16(from, true));
    if (code === 2) return BigInt(view.getUint32(from, true));
    return view.getBigUint64(from, true);
  };
  const difference = () => {
    let number = 0n;
    for (let bits = 0n; ; bits += 7n) {
      const byte = view.getUint8(place++);
      number |= BigInt(byte & 127) << bits;
      if (byte < 128) return number & 1n ? -((number + 1n) >> 1n) : number >> 1n;
    }
  };
  const calls = [];
  for (let i = 0; i < count; i++) {
    const code = view.getUint16(place, true);
    place += 2;
    const began = clock + number((code >> 11) & 3);
    clock = began + number((code >> 13) & 3);
    const routine = code & 1023;
    const values = [...(memory[routine] ?? NO_ARGUMENTS)];
    // The next call of a routine is expected to be the next collective.
    if (memory[routine] && values[6] !== 0n) values[6] += 1n;
    if (code & DIFFERS) {
      const changed = view.getUint8(place++);
      for (let argument = 0; argument < 8; argument++) {
        if ((changed >> argument) & 1) {
          values[argument] = BigInt.asIntN(64, values[argument] + difference());
        }
      }
    }
    // The page has names and waits from topasview.
    if (code & HAS_SUPPLEMENT) place += 2 + view.getUint16(place, true);
    memory[routine] = values;
    const call = { routine, began: began << shift, ended: clock << shift };
    ARGUMENTS.forEach((name, argument) => (call[name] = values[argument]));
    [call.source, call.receivedTag] = partsOfSource(call.source);
    for (const name of ["sent", "received", "communicator", "number"]) {
      call[name] = BigInt.asUintN(64, call[name]);
    }
    calls.push(call);
  }
  return calls;
}

/**
 * A tick in ns of the monotonic clock of the host, rounded down as topas-mpi does. A clock is four
 * integers: the tick and the ns of its first moment, and by how many ticks and ns the latest is behind it.
 */
function nanosecondsOf([tick, ns, ticks, length], moment) {
  if (ticks <= 0n || length <= 0n) return moment;
  const since = moment > tick ? ((moment - tick) * length) / ticks : 0n;
  const before = moment < tick ? ((tick - moment) * length) / ticks : 0n;
  return ns + since - before;
}
