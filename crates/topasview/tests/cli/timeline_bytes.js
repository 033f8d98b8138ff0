// Parts of a log that lie near each other are read as one, without a page: node timeline_bytes.js DECODER DATA.
"use strict";
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");
const text = process.argv.slice(2).map(path => fs.readFileSync(path, "utf8")).join("");
vm.runInThisContext(`${text};globalThis.page = { Timeline, NEAR };`);
const { Timeline, NEAR } = globalThis.page;

const logs = [Uint8Array.from({ length: 8 * NEAR }, (_, i) => (i * 7 + (i >> 8)) & 255), Uint8Array.from({ length: NEAR }, (_, i) => 255 - (i & 255))];
let readings = 0;
const files = logs.map(bytes => ({
  slice: (from, to) => {
    readings++;
    return new Blob([bytes.subarray(from, to)]);
  },
}));
const part = (log, offset, from, to) => ({ block: { log, offset }, from, to });
/** Parts of blocks, and how many readings they take. */
const cases = [
  [[part(0, 100, 5, 90)], 1],
  // Near each other, in any order, and one within another.
  [[part(0, NEAR, 0, 40), part(0, 0, 128, 500), part(0, 0, 200, 300), part(0, 2 * NEAR, 0, 9)], 1],
  // Too far, and of another log.
  [[part(0, 5 * NEAR, 3, 50), part(1, 64, 0, 500), part(0, 0, 0, 128), part(0, 5 * NEAR, 50, 60)], 3],
  [[], 0],
];
(async () => {
  for (const [parts, most] of cases) {
    readings = 0;
    const read = await Timeline.prototype.bytesOf.call({ lines: null, files }, parts);
    assert.strictEqual(readings, most);
    const own = parts.map(({ block, from, to }) => logs[block.log].subarray(block.offset + from, block.offset + to));
    assert.deepStrictEqual(read.map(bytes => [...bytes]), own.map(bytes => [...bytes]));
  }
  console.log(`${cases.length} cases`);
})();
