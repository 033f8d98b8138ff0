// Prints all events of a log as `topas-mpi trace --events` does, read by the decoder of the page:
// node timeline_oracle.js DECODER LOG. The quick decoder has to find the same times.
"use strict";
const fs = require("fs");
const vm = require("vm");
vm.runInThisContext(
  fs.readFileSync(process.argv[2], "utf8") + ";globalThis.page = { headOf, callsOf, timesOf, nanosecondsOf };",
);
const { headOf, callsOf, timesOf, nanosecondsOf } = globalThis.page;

const LENGTH = 65536;
const file = fs.readFileSync(process.argv[3]);
const processes = new Map();
for (let offset = 0; offset + 128 <= file.length; offset += LENGTH) {
  const bytes = new Uint8Array(file.subarray(offset, offset + LENGTH));
  const head = headOf(bytes);
  if (!head) throw new Error(`no block at ${offset}`);
  const process = processes.get(head.process) ?? { rank: head.rank, blocks: [], routines: {}, clock: [0n, 0n, 0n, 0n] };
  processes.set(head.process, process);
  if (head.content === 1) {
    const number = new DataView(bytes.buffer).getBigUint64(40, true);
    process.blocks.push({ head, bytes, number });
    continue;
  }
  const moments = {};
  for (const line of new TextDecoder().decode(bytes.subarray(128, 128 + head.used)).split("\n")) {
    const [key, ...words] = line.split(" ");
    if (key === "routine") process.routines[words[0]] = words[1];
    if (key === "began" || key === "latest") moments[key] = words.map(BigInt);
  }
  const { began, latest } = moments;
  process.first = began[0];
  process.clock = [began[0], began[1], latest[0] - began[0], latest[1] - began[1]];
}
const all = [...processes.values()].sort((a, b) => a.rank - b.rank);
// The log is that of one host, whose ticks are told by the process that was there longest.
const shared = all.map(process => process.clock).reduce((a, b) => (a[2] < b[2] ? b : a));
for (const process of all) process.clock = shared;
const origin = all.map(process => nanosecondsOf(shared, process.first)).reduce((a, b) => (a < b ? a : b));
const out = ["rank,thread,routine,began_ns,length_ns,peer,source,tag,sent,received,communicator,number,path,received_tag"];
for (const { rank, blocks, routines, clock } of all) {
  blocks.sort((a, b) => a.head.thread - b.head.thread || Number(a.number - b.number));
  for (const { head, bytes } of blocks) {
    const tick = Number(clock[3]) / Number(clock[2]);
    const first = Number(nanosecondsOf(clock, head.first) - origin);
    const rest = Number(head.first & ((1n << BigInt(head.shift)) - 1n));
    const told = { base: first - rest * tick, unit: tick * 2 ** head.shift, clock: 0 };
    const times = timesOf(bytes.subarray(128, 128 + head.used), head.calls, told);
    if (times.end !== head.used) throw new Error(`${times.end} of ${head.used} B`);
    callsOf(bytes, head.calls).forEach((call, place) => {
      const [began, ended] = [nanosecondsOf(clock, call.began), nanosecondsOf(clock, call.ended)];
      const cell = number => (number < 0n ? "" : number);
      out.push([
        rank, head.thread, routines[call.routine], began - origin, ended - began, cell(call.peer), cell(call.source),
        cell(call.tag), call.sent, call.received, call.communicator.toString(16), call.number, call.path,
        cell(call.receivedTag),
      ].join(","));
      const apart = Math.max(
        Math.abs(times.began[place] - Number(began - origin)), Math.abs(times.ended[place] - Number(ended - origin)),
      );
      if (apart > 3 || times.routine[place] !== call.routine) throw new Error(`${out.at(-1)}: ${apart} ns apart`);
    });
  }
}
process.stdout.write(out.join("\n") + "\n");
