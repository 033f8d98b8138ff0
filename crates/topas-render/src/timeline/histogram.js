// The durations of a state: how often it took how long, in the part of the run and the rows that are shown.

/** All durations of what is picked, of which `each` is called for every part of a row's time. */
class Durations {
  /** `picked` is the number of a class, or the name of a routine. */
  constructor(timeline, picked) {
    this.timeline = timeline;
    this.picked = picked;
    this.lengths = [];
    this.longest = [];
  }

  /** Adds those of a piece that begin in a time. */
  add(piece, times, from, to) {
    if (typeof this.picked === "number") {
      this.timeline.walkPiece(piece, times, from, to, (kind, began, ended, _, call) => {
        if (kind === this.picked && ended > began && began >= from && began <= to) this.put(piece.row, piece, call, began, ended);
      });
      return;
    }
    const { began, ended, routine } = times;
    for (let call = placeAbove(began, from - 1e-9); call < piece.calls && began[call] <= to; call++) {
      const name = this.timeline.nameOf(piece.row.process, routine[call]);
      // What tells that measuring pauses is no call.
      const number = piece.before + call;
      if (name === this.picked && piece.row.pausesIn(number, number + 1) === 0) this.put(piece.row, piece, call, began[call], ended[call]);
    }
  }

  /** Adds what lies behind the last event of a row, as a call that did not end, if that begins in a time. */
  addTail(row, from, to) {
    for (const { kind, began, ended, routine } of row.tail) {
      const name = routine === null ? null : this.timeline.nameOf(row.process, routine);
      if ((kind === this.picked || name === this.picked) && began >= from && began <= to) this.put(row, null, -1, began, ended);
    }
  }

  put(row, piece, call, began, ended) {
    const length = ended - began;
    this.lengths.push(length);
    const { longest } = this;
    if (longest.length === 5 && length <= longest[4].length) return;
    longest.push({ length, row, piece, call, began, ended });
    longest.sort((a, b) => b.length - a.length);
    longest.length = Math.min(longest.length, 5);
  }

  /** Sorts them, and tells what is known of them. */
  summary() {
    const all = Float64Array.from(this.lengths).sort();
    let sum = 0;
    for (const length of all) sum += length;
    return {
      all, sum, count: all.length, least: all[0], most: all[all.length - 1],
      median: all[all.length >> 1], mean: sum / all.length, longest: this.longest,
    };
  }
}

/** Durations in so many bins, of equal width or equal ratio: the limits of the bins and what is in them. */
function binned({ all, least, most }, bins, logarithmic) {
  const low = logarithmic ? Math.log(Math.max(least, 1)) : least;
  const high = logarithmic ? Math.log(Math.max(most, 1)) : most;
  const width = (high - low) / bins || 1;
  const limit = bin => (logarithmic ? Math.exp(low + bin * width) : low + bin * width);
  const found = Array.from({ length: bins }, (_, bin) => ({ from: limit(bin), to: limit(bin + 1), count: 0, time: 0 }));
  for (const length of all) {
    const at = ((logarithmic ? Math.log(Math.max(length, 1)) : length) - low) / width;
    const bin = found[Math.min(bins - 1, Math.max(0, Math.floor(at)))];
    bin.count++;
    bin.time += length;
  }
  return found;
}

/** Draws bins into a canvas whose unit is a pixel of CSS. */
function drawBins(paper, { width, height }, bins, { byTime, color, ink, soft }) {
  const [left, bottom, top] = [54, 22, 8];
  const amount = bin => (byTime ? bin.time : bin.count);
  const most = Math.max(...bins.map(amount), 1);
  const each = (width - left - 6) / bins.length;
  paper.clearRect(0, 0, width, height);
  paper.font = "12px system-ui, sans-serif";
  paper.textBaseline = "middle";
  paper.textAlign = "right";
  for (const tick of ticksIn(0, most, 4).ticks) {
    const y = height - bottom - (tick / most) * (height - bottom - top);
    paper.fillStyle = soft;
    paper.fillRect(left, Math.round(y), width - left - 6, 0.5);
    paper.fillStyle = ink;
    paper.fillText(byTime ? (tick ? shownTime(tick) : "0") : String(Math.round(tick)), left - 5, y);
  }
  paper.fillStyle = color;
  bins.forEach((bin, place) => {
    // What happened once among millions still has a bar that can be seen.
    const part = amount(bin) > 0 ? Math.max((amount(bin) / most) * (height - bottom - top), 1.5) : 0;
    paper.fillRect(left + place * each, height - bottom - part, Math.max(each - 1, 1), part);
  });
  paper.fillStyle = ink;
  const labels = Math.max(2, Math.floor((width - left) / 90));
  for (let label = 0; label <= labels; label++) {
    const place = Math.round((label / labels) * bins.length);
    const limit = place === bins.length ? bins[place - 1].to : bins[place].from;
    paper.textAlign = label === labels ? "right" : label === 0 ? "left" : "center";
    paper.fillText(shownTime(limit), left + place * each, height - 9);
  }
}
