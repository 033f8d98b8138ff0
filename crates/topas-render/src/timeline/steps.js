// From call to call of a row, by the keys n and p.

/** The call of a row that begins behind a moment, or the last one that ended before it: its place among the pieces, and in its piece. */
function placeBeside(row, moment, forward) {
  const { pieces } = row;
  if (forward) return { at: pieces.findIndex(piece => piece.ended >= moment), find: times => placeAbove(times.began, moment - 1e-9) };
  return { at: pieces.findLastIndex(piece => piece.open < moment), find: times => placeAbove(times.ended, moment) - 1 };
}

/** The next call of a row, or the one before, seen from the call that is chosen, or from an edge of the view: null if there is none. */
async function callBeside(row, forward) {
  const isOwn = chosen?.row === row;
  const edge = forward ? view.from : view.to;
  const moment = !isOwn ? edge : forward ? chosen.ended : chosen.began;
  const own = { at: row.pieces.indexOf(chosen?.piece), find: () => chosen.call + (forward ? 1 : -1) };
  let { at, find } = isOwn && chosen.call >= 0 ? own : placeBeside(row, moment, forward);
  for (; at >= 0 && at < row.pieces.length; at += forward ? 1 : -1) {
    const piece = row.pieces[at];
    await timeline.load([piece]);
    const { times } = piece;
    const call = find(times);
    if (call >= 0 && call < piece.calls) {
      return { row, kind: timeline.classOf(row.process, times.routine[call]), began: times.began[call], ended: times.ended[call], piece, call };
    }
    find = forward ? () => 0 : () => row.pieces[at].calls - 1;
  }
  // The call that did not end is the last one.
  const last = row.tail.find(part => part.routine !== null);
  if (!forward || !last || last.began < moment) return null;
  return { row, ...last, piece: null, call: -1 };
}

async function stepOnce(forward) {
  const row = cursorRow ?? entries.find(entry => entry.row)?.row;
  if (!row) return;
  if (!timeline.hasCalls) return say("Open the log to go from call to call.");
  const next = await callBeside(row, forward);
  if (!next) return say(`${row.name}: there is no ${forward ? "further" : "earlier"} call in the log`);
  const length = view.to - view.from;
  if (next.began < view.from || next.ended > view.to) {
    // Of a call that is longer than the view, its beginning is shown.
    const isLong = next.ended - next.began > 0.8 * length;
    lookAt(row, isLong ? next.began - 0.1 * length : (next.began + next.ended - length) / 2, length);
  }
  await choose(next);
  say(`${row.name} at ${shownMoment(next.began, length / 1000)}: ${stateWords(next)}, ${shownTime(next.ended - next.began)}`);
}

let stepping = Promise.resolve();

/** Chooses the next call of the row at the cursor, or the one before, and moves it into view: one step after the other. */
function step(forward) {
  stepping = stepping.then(() => stepOnce(forward)).catch(error => say(`Calls cannot be read: ${error.message}.`));
  return stepping;
}
