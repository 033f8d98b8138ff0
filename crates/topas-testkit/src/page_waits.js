// What scripts of tests begin with that do what the reader of a page does: how they wait for the page, note its faults,
// and leave what they saw. Chromium's time is virtual there, and timers run ahead of frames, so both are waited for.
const $ = id => document.getElementById(id);
/** What went wrong in the page and in the script of the test. */
const errors = [];
addEventListener("error", event => errors.push(event.message));
addEventListener("unhandledrejection", event => errors.push(String(event.reason)));
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
const frames = async () => {
  let came = false;
  requestAnimationFrame(() => requestAnimationFrame(() => (came = true)));
  while (!came) await sleep(20);
};
const wait = async ms => {
  await frames();
  await sleep(ms);
  await frames();
};
const until = async condition => {
  for (let i = 0; i < 20000 && !condition(); i++) await sleep(20);
};
/** Waits until the page of time lines has drawn calls one by one. */
const drawn = async () => {
  for (let i = 0; i < 100 && document.documentElement.dataset.drawn !== "calls"; i++) await wait(30);
  await wait(400);
};
const key = name => $("lines").dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
/** Runs the test, and leaves what is `seen` then in the page, or in the page around it, for `measured_in_browser`. */
const leave = (run, seen) => {
  const fault = error => errors.push(`${error.message} ${error.stack}`);
  run().catch(fault).finally(() => parent.document.body.append("measured:" + JSON.stringify({ ...seen, errors }) + ":end"));
};
