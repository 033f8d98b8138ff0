// Estimates of waits, without a page: node timeline_estimate.js DECODER DATA.
"use strict";
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");
const text = process.argv.slice(2).map(path => fs.readFileSync(path, "utf8")).join("");
vm.runInThisContext(`${text};globalThis.page = { levelAbove, placeAbove, IS_SEND, shown: Timeline };`);
const { levelAbove, placeAbove, IS_SEND } = globalThis.page;

let random = 1;
const next = () => (random = (random * 16807) % 2147483647) / 2147483647;
let sums = 0;
for (let round = 0; round < 200; round++) {
  const lengths = Float64Array.from({ length: 1 + Math.floor(next() * 50) }, () => Math.floor(next() * 1e6));
  const all = lengths.reduce((a, b) => a + b, 0);
  const sum = all * next();
  const level = levelAbove(lengths, sum);
  const above = lengths.reduce((a, length) => a + Math.max(0, length - level), 0);
  assert(Math.abs(above - sum) <= 1e-6 * all + 1e-6, `${above} ${sum}`);
  sums++;
}
// More than there is, and nothing.
assert.strictEqual(levelAbove(Float64Array.of(3, 5), 100), 0);
assert.strictEqual(levelAbove(Float64Array.of(), 100), 0);
assert.deepStrictEqual([0, 1, 2.5, 4, 9].map(wanted => placeAbove([1, 2, 4], wanted)), [0, 1, 2, 3, 3]);
for (const name of ["MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend_c"]) assert(IS_SEND.test(name), name);
for (const name of ["MPI_Isend", "MPI_Sendrecv", "MPI_Issend", "MPI_Recv"]) assert(!IS_SEND.test(name), name);
console.log(`${sums} sums`);
