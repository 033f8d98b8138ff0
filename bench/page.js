// Opens a page of time lines in Chromium and moves in it as its reader does: how long until all is drawn.
// node page.js PAGE LOG WIDTH [PICTURES]; the log is opened where the page does not have it. Prints JSON; with
// PICTURES, screenshots are left at PICTURES-WIDTH-STEP.png.
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const [page, log, width, pictures] = process.argv.slice(2);
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "page-"));
const empty = path.join(profile, "empty.html");
fs.writeFileSync(empty, "<!DOCTYPE html><title>empty</title>");
const height = Number(width) < 600 ? 844 : 900;
const options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"];
options.push(`--user-data-dir=${profile}`, "about:blank");
const browser = spawn("chromium", options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [to, from] = [browser.stdio[3], browser.stdio[4]];

// Messages of the browser are JSON, each ended by a byte 0.
const answers = new Map();
let session;
let [last, rest] = [0, ""];
from.setEncoding("utf8").on("data", text => {
  const parts = (rest + text).split("\0");
  rest = parts.pop();
  for (const { id, result, error } of parts.map(part => JSON.parse(part))) {
    answers.get(id)?.(error ? Promise.reject(new Error(error.message)) : result);
    answers.delete(id);
  }
});
function ask(method, params = {}, sessionId = session) {
  to.write(`${JSON.stringify({ id: ++last, method, params, sessionId: sessionId ?? undefined })}\0`);
  return new Promise(resolve => answers.set(last, resolve));
}
async function evaluate(expression) {
  const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

/**
 * Runs before the page's script: notes each drawing when the browser has shown it, and the longest time in which the
 * page did not answer.
 */
function watch() {
  const seen = (window.seen = { drawn: [], longest: 0, faults: [] });
  addEventListener("error", event => seen.faults.push(event.message));
  addEventListener("unhandledrejection", event => seen.faults.push(String(event.reason)));
  const channel = new MessageChannel();
  const root = document.documentElement;
  let after = null;
  channel.port1.onmessage = () => after?.();
  new MutationObserver(() => {
    requestAnimationFrame(() => {
      after = () => seen.drawn.push({ at: performance.now(), isWhole: !document.getElementById("span").textContent.includes("reading calls") });
      channel.port2.postMessage(0);
    });
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-drawn"] });
  let turn = performance.now();
  const tick = () => {
    const now = performance.now();
    seen.longest = Math.max(seen.longest, now - turn);
    turn = now;
    setTimeout(tick, 0);
  };
  tick();
  /** Does something, and waits until all of its result is shown: the time in ms. */
  window.timed = async run => {
    const before = seen.drawn.length;
    seen.longest = 0;
    const began = performance.now();
    run();
    for (;;) {
      const done = seen.drawn.slice(before).find(drawn => drawn.isWhole);
      if (done) {
        const first = seen.drawn[before].at - began;
        return { ms: done.at - began, first, longest: seen.longest, view: document.getElementById("span").textContent };
      }
      if (performance.now() - began > 60000) throw new Error("nothing was drawn in 60 s");
      await new Promise(resolve => setTimeout(resolve, 1));
    }
  };
  window.wheel = (turns, at) => {
    const canvas = document.getElementById("lines");
    const { left, top, width } = canvas.getBoundingClientRect();
    const clientX = left + width * at;
    for (let i = 0; i < Math.abs(turns); i++) {
      canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: turns > 0 ? -300 : 300, clientX, clientY: top + 100, cancelable: true }));
    }
  };
  window.key = key => document.getElementById("lines").dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}

async function main() {
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  session = (await ask("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  await ask("Page.enable");
  await ask("DOM.enable");
  await ask("Emulation.setDeviceMetricsOverride", { width: Number(width), height, deviceScaleFactor: 1, mobile: false });
  // The process for pages of files starts with an empty one: its start is not the page's.
  await ask("Page.navigate", { url: `file://${empty}` });
  await ask("Page.addScriptToEvaluateOnNewDocument", { source: `(${watch})()` });
  const steps = [];
  const picture = async name => {
    if (!pictures) return;
    await evaluate('document.getElementById("overview").scrollIntoView()');
    const { data } = await ask("Page.captureScreenshot", { format: "png" });
    fs.writeFileSync(`${pictures}-${width}-${name}.png`, Buffer.from(data, "base64"));
  };
  /** The time that the processes of pages have computed, in ms: apart from what else the machine does. */
  const computed = async () => {
    const { processInfo } = await ask("SystemInfo.getProcessInfo", {}, null);
    return 1000 * processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  const step = async (name, run) => {
    const before = await computed();
    const found = await evaluate(`timed(() => { ${run} })`);
    steps.push({ name, ...found, cpu: (await computed()) - before });
    await picture(name);
  };
  const before = await computed();
  await ask("Page.navigate", { url: `file://${path.resolve(page)}` });
  const opened = `(async () => {
    while (!window.seen?.drawn.length) await new Promise(resolve => setTimeout(resolve, 1));
    return { ms: seen.drawn[0].at, first: seen.drawn[0].at, longest: seen.longest, view: document.getElementById("span").textContent };
  })()`;
  let found;
  // The page may not have begun yet.
  while (!found) found = await evaluate(opened).catch(() => null);
  steps.push({ name: "open", ...found, cpu: (await computed()) - before });
  await picture("open");
  const { result: file } = await ask("Runtime.evaluate", { expression: 'document.getElementById("file")' });
  if (file.objectId) {
    const before = await evaluate("seen.drawn.length");
    await ask("DOM.setFileInputFiles", { objectId: file.objectId, files: [path.resolve(log)] });
    await evaluate(`(async () => { while (seen.drawn.length === ${before}) await new Promise(resolve => setTimeout(resolve, 1)); })()`);
  }
  // From the whole run down to single calls, and back.
  await step("zoom-half", "wheel(2, 0.6)");
  await step("zoom-100", "wheel(9, 0.6)");
  await step("zoom-1000", "wheel(5, 0.6)");
  await step("zoom-10000", "wheel(5, 0.6)");
  await step("zoom-100000", "wheel(5, 0.6)");
  await step("move", "key('ArrowRight')");
  await step("back", "wheel(-1, 0.6)");
  await step("whole", "key('Home')");
  const heap = await evaluate("performance.memory?.usedJSHeapSize ?? 0");
  const faults = await evaluate("seen.faults");
  const legend = await evaluate('document.querySelector(".legend").textContent');
  const title = await evaluate("document.title");
  console.log(JSON.stringify({ width: Number(width), steps, heap, faults, legend, title }));
}

const patience = new Promise((_, reject) => {
  setTimeout(() => reject(new Error("the page was not done in 120 s")), 120000).unref();
});
Promise.race([main(), patience]).catch(error => {
  console.error(error.message);
  process.exitCode = 1;
}).finally(async () => {
  await Promise.race([ask("Browser.close"), new Promise(resolve => setTimeout(resolve, 3000))]);
  if (browser.exitCode === null && browser.signalCode === null) browser.kill("SIGKILL");
  // Processes of the browser may still write there.
  for (let left = 20; left > 0; left--) {
    try {
      fs.rmSync(profile, { recursive: true, force: true });
      break;
    } catch {
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
  process.exit();
});
