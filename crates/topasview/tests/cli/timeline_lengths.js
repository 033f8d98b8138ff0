// Lengths of time as the page shows them, without a page: node timeline_lengths.js DECODER DATA PICTURE.
"use strict";
const fs = require("fs");
const vm = require("vm");
const source = process.argv.slice(2).map(path => fs.readFileSync(path, "utf8")).join("\n");
const shown = vm.runInNewContext(`${source}\nshownTime`);
const cases = [
  [0, "0 ns"], [999, "999 ns"], [1000, "1.00 µs"], [999_400, "999 µs"], [999_600, "1.00 ms"], [12_340_000, "12.3 ms"],
  [999_400_000, "999 ms"], [999_999_966, "1.00 s"], [2_520_000_000, "2.52 s"],
];
for (const [ns, expected] of cases) {
  if (shown(ns) !== expected) throw new Error(`${ns} ns: ${shown(ns)}, not ${expected}`);
}
console.log(`${cases.length} lengths`);
