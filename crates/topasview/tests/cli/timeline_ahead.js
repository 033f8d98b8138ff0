// What is read while the browser has nothing to do, without a page: node timeline_ahead.js AHEAD.
"use strict";
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");

const made = (rows, callsOfRow, view) => {
  const idle = [];
  const loaded = [];
  const piecesIn = ([row], from, to) => ({ pieces: from === to ? [{ row, at: from, calls: callsOfRow }] : [] });
  const load = async (pieces, isWanted) => {
    assert(isWanted());
    loaded.push(...pieces);
  };
  const page = { window: { requestIdleCallback: true }, requestIdleCallback: run => idle.push(run), timeline: { piecesIn, load }, view, wanted: [] };
  vm.createContext(page);
  const text = fs.readFileSync(process.argv[2], "utf8");
  vm.runInContext(`${text};globalThis.point = moment => (pointed = moment);globalThis.start = readAhead;`, page);
  const numbers = Array.from({ length: rows }, (_, row) => row);
  /** Lets the browser be idle so many times. */
  const rest = async times => {
    for (let i = 0; i < times && idle.length; i++) {
      idle.shift()();
      await new Promise(resolve => setImmediate(resolve));
    }
  };
  return { page, loaded, rest, start: () => page.start(numbers) };
};

(async () => {
  // Nothing is read before the browser is idle; then some rows at a time, around the pointer.
  const run = made(40, 1000, { from: 0, to: 100 });
  run.page.point(60);
  run.start();
  assert.strictEqual(run.loaded.length, 0);
  await run.rest(1);
  assert.strictEqual(run.loaded.length, 16);
  await run.rest(9);
  assert.deepStrictEqual(run.loaded.map(piece => piece.row), Array.from({ length: 40 }, (_, row) => row));
  assert(run.loaded.every(piece => piece.at === 60));
  // Without a pointer in view, in the middle.
  const other = made(3, 1000, { from: 200, to: 300 });
  other.page.point(60);
  other.start();
  await other.rest(9);
  assert.deepStrictEqual(other.loaded.map(piece => piece.at), [250, 250, 250]);
  // Another view ends it, and it has an end itself.
  const left = made(40, 1000, { from: 0, to: 100 });
  left.start();
  await left.rest(1);
  left.page.wanted = [];
  await left.rest(9);
  assert.strictEqual(left.loaded.length, 16);
  const long = made(1000, 5000, { from: 0, to: 100 });
  long.start();
  await long.rest(99);
  assert.strictEqual(long.loaded.length, 48);
  console.log("4 views");
})();
