// Draws rows: in each column of pixels, the classes of time stand above one another by their shares.

/** From the bottom to the top of a row: what a row waits for stands at the top, where rows begin. */
const STACK = [
  CLASS.NOT_IN_LOG, CLASS.PAUSED, CLASS.OUTSIDE, CLASS.OTHER, CLASS.FILE, CLASS.ONE_SIDED, CLASS.COLLECTIVE,
  CLASS.POINT_TO_POINT, CLASS.COLLECTIVE_WAIT, CLASS.LATE_RECEIVER, CLASS.LATE_SENDER,
];

/** The nanoseconds of each class in each of `columns` columns of a time, from the slices of a row. */
function sharesOfSlices(row, from, to, columns, shares) {
  const { bounds, sums, kinds } = row;
  const last = bounds.length - 1;
  if (last < 1) return;
  const width = (to - from) / columns;
  let slice = Math.max(placeAbove(bounds, from) - 1, 0);
  const before = new Float64Array(CLASSES);
  for (let column = -1; column < columns; column++) {
    const time = from + (column + 1) * width;
    if (time <= bounds[0]) continue;
    while (slice < last && bounds[slice + 1] <= time) slice++;
    const part = slice < last ? (time - bounds[slice]) / (bounds[slice + 1] - bounds[slice]) : 0;
    const [low, high] = [slice * CLASSES, Math.min(slice + 1, last) * CLASSES];
    for (const kind of kinds) {
      const now = sums[low + kind] + (sums[high + kind] - sums[low + kind]) * part;
      if (column >= 0) shares[column * CLASSES + kind] += now - before[kind];
      before[kind] = now;
    }
  }
}

/** Adds a time of one class to the columns that it touches. */
function addTime(shares, columns, from, width, kind, began, ended) {
  let column = Math.floor((began - from) / width);
  if (column >= columns || ended <= from) return;
  if (column < 0) [column, began] = [0, from];
  for (; column < columns && began < ended; column++) {
    const end = Math.min(ended, from + (column + 1) * width);
    if (end > began) shares[column * CLASSES + kind] += end - began;
    began = Math.max(began, end);
  }
}

/** The same from the calls themselves. */
function sharesOfCalls(timeline, row, from, to, columns, shares) {
  const width = (to - from) / columns;
  for (const piece of timeline.piecesIn([row], from, to).pieces) {
    if (piece.times) sharesOfPiece(timeline, piece, from, to, columns, width, shares);
  }
  addTail(row, from, to, columns, shares);
}

/**
 * The shares of the calls of a piece: what `walkPiece` tells of, without a call of a function for each part. Most
 * parts lie in the column in which the part before ended.
 */
function sharesOfPiece(timeline, piece, from, to, columns, width, shares) {
  const { began, ended, routine, waits } = piece.times;
  const { row, before, calls } = piece;
  const classes = timeline.classesOf(row.process);
  const { call: noteCalls, wait: noteWaits, kind: noteKinds } = row.notes;
  const notes = noteCalls.length;
  const asks = piece.lost || row.hasPauses;
  let call = placeAbove(ended, from);
  let done = call > 0 ? ended[call - 1] : piece.open;
  let note = placeAbove(noteCalls, before + call - 1);
  let column = Math.min(Math.max(Math.floor((done - from) / width), 0), columns - 1);
  let [low, high] = [from + column * width, from + (column + 1) * width];
  const add = (kind, start, end) => {
    if (start >= low && end <= high) {
      shares[column * CLASSES + kind] += end - start;
      return;
    }
    addTime(shares, columns, from, width, kind, start, end);
    column = Math.min(Math.max(Math.floor((end - from) / width), 0), columns - 1);
    [low, high] = [from + column * width, from + (column + 1) * width];
  };
  for (; call < calls && done <= to; call++) {
    const start = began[call];
    const end = ended[call];
    if (start > done) add(asks ? row.classBefore(piece, call) : CLASS.OUTSIDE, done, start);
    let wait = 0;
    let kind = CLASS.OTHER;
    const number = before + call;
    for (; note < notes && noteCalls[note] <= number; note++) {
      if (noteWaits[note] <= wait) continue;
      wait = noteWaits[note];
      kind = WAIT_OF_NOTE[noteKinds[note]];
    }
    if (wait === 0 && waits !== undefined && waits[call] > 0) [wait, kind] = timeline.estimateOf(piece, piece.times, call);
    const split = Math.min(start + wait, end);
    if (wait > 0) add(kind, start, split);
    add(classes[routine[call]], split, end);
    done = end;
  }
}

/** What lies behind the last event of a row: slices have it, and calls do not. */
function addTail(row, from, to, columns, shares) {
  for (const { kind, began, ended } of row.tail) addTime(shares, columns, from, (to - from) / columns, kind, began, ended);
}

/** What is not in the log is hatched, as no class of time is: a line of `HATCH_LINE` in `HATCH` pixels. */
const [HATCH, HATCH_LINE] = [8, 2];

/** The colour of a class at a place. The colour of hatches stands behind those of all classes. */
const colorAt = (colors, kind, x, y) => (kind === CLASS.NOT_IN_LOG && (x + y) % HATCH < HATCH_LINE ? colors[CLASSES] : colors[kind]);

/**
 * Paints columns of shares into pixels: a row of this height at `top` and `left` of an image. Only these classes have
 * shares, in the order of the stack. Their sums are added to `totals`.
 */
function paintRow(image, shares, columns, { kinds, left, top, height, width, colors }, totals) {
  const pixels = new Uint32Array(image.data.buffer);
  const stride = image.width;
  const bottom = Math.min(top + height, image.height);
  const [most, under] = [width * 0.999, top + height];
  for (let column = 0; column < columns; column++) {
    const at = column * CLASSES;
    let sum = 0;
    let [used, only] = [0, 0];
    for (let i = 0; i < kinds.length; i++) {
      const share = shares[at + kinds[i]];
      if (share === 0) continue;
      sum += share;
      totals[kinds[i]] += share;
      used++;
      only = kinds[i];
    }
    // Outside of the life of a row there is nothing.
    if (sum <= 0) continue;
    // Most columns of single calls have one class.
    const isPlain = used === 1 && sum >= most;
    if (isPlain && only === CLASS.NOT_IN_LOG) {
      for (let y = Math.max(top, 0); y < bottom; y++) pixels[y * stride + left + column] = colorAt(colors, only, left + column, y);
      continue;
    }
    if (height <= 2 || isPlain) {
      const color = isPlain ? colors[only] : blended(shares, at, sum, kinds, colors);
      for (let y = Math.max(top, 0); y < bottom; y++) pixels[y * stride + left + column] = color;
      continue;
    }
    const scale = height / Math.max(sum, most);
    let [done, y] = [0, under];
    for (let i = 0; i < kinds.length; i++) {
      const share = shares[at + kinds[i]];
      if (share <= 0) continue;
      done += share;
      const end = under - Math.round(done * scale);
      for (; y > end; ) {
        y--;
        if (y >= 0 && y < bottom) pixels[y * stride + left + column] = colorAt(colors, kinds[i], left + column, y);
      }
    }
  }
}

/** The mean of the colours of classes by their shares, where a row is too low for a stack. */
function blended(shares, at, sum, kinds, colors) {
  let r = 0;
  let g = 0;
  let b = 0;
  for (let i = 0; i < kinds.length; i++) {
    const share = shares[at + kinds[i]];
    if (share === 0) continue;
    const color = colors[kinds[i]];
    if (share === sum) return color;
    const part = share / sum;
    r += (color & 255) * part;
    g += ((color >> 8) & 255) * part;
    b += ((color >> 16) & 255) * part;
  }
  return (255 << 24) | (b << 16) | (g << 8) | r;
}

/** Red, green and blue of a colour `#rrggbb` or `#rgb`. */
function partsOf(color) {
  const digits = color.length === 4 ? [...color.slice(1)].map(digit => digit + digit) : color.slice(1).match(/../g);
  return digits.map(part => parseInt(part, 16));
}

/** A colour as a pixel in memory, the share of it that is left on a ground. */
function pixelOf(color, share, ground) {
  const under = partsOf(ground);
  const [r, g, b] = partsOf(color).map((own, place) => Math.round(own * share + under[place] * (1 - share)));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Round numbers in a range, about as many as wanted. */
function ticksIn(from, to, wanted) {
  const rough = (to - from) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(step => step >= rough);
  const ticks = [];
  for (let at = Math.ceil(from / step); at * step <= to; at++) ticks.push(at * step);
  return { ticks, step };
}

/** A length of time with its unit, in three digits or so. */
function shownTime(ns) {
  // What three digits would round to 1000 has the next unit.
  const [unit, name] = ns >= 999.5e6 ? [1e9, "s"] : ns >= 999.5e3 ? [1e6, "ms"] : ns >= 999.5 ? [1e3, "µs"] : [1, "ns"];
  const number = ns / unit;
  const digits = number >= 100 || unit === 1 ? 0 : number >= 10 ? 1 : 2;
  return `${number.toFixed(digits)} ${name}`;
}

/** A moment in the run in s, exact enough to tell it from others that are `step` ns apart. */
function shownMoment(ns, step) {
  const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(step, 1)))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

/** A number of bytes with its unit. */
function shownBytes(bytes) {
  const units = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];
  const [unit, name] = units.find(([unit]) => bytes >= unit) ?? [1, "B"];
  return `${unit === 1 ? bytes : (bytes / unit).toFixed(1)} ${name}`;
}
