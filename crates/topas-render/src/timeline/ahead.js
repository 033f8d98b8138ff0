// Reads ahead while the browser has nothing else to do: a reader who zooms in sees calls the sooner.

/** Most calls that are read ahead. */
const MOST_AHEAD = 250_000;
/** Rows whose calls are read ahead together. */
const ROWS_AHEAD = 16;
/** The moment at which the pointer was last; the picture grows around it. Keys and buttons zoom around the middle. */
let pointed = null;

/** Runs a function when the browser has nothing to do, if it can tell. */
const whenIdle = run => (window.requestIdleCallback ? requestIdleCallback(run) : setTimeout(run, 200));

/** Reads the calls of these rows around which the picture would grow, some at a time, until something else is drawn. */
function readAhead(rows) {
  const before = wanted;
  const isWanted = () => wanted === before;
  const isIn = pointed !== null && pointed >= view.from && pointed <= view.to;
  const moment = isIn ? pointed : (view.from + view.to) / 2;
  let [next, calls] = [0, 0];
  const some = async () => {
    const pieces = rows.slice(next, (next += ROWS_AHEAD)).flatMap(row => timeline.piecesIn([row], moment, moment).pieces.slice(0, 1));
    calls += pieces.reduce((sum, piece) => sum + piece.calls, 0);
    if (!isWanted() || calls > MOST_AHEAD) return;
    await timeline.load(pieces, isWanted);
    if (next < rows.length) goOn();
  };
  // What cannot be read is told when it is to be seen.
  const goOn = () => whenIdle(() => some().catch(() => {}));
  goOn();
}
