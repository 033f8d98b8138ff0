// Does what a reader of the page of time lines does, and leaves what then stands there.
{
  const seen = {};
  const canvas = $("lines");
  const span = () => {
    const [from, to] = $("span").textContent.match(/[\d.]+(?= s)/g).map(Number);
    return { from, to };
  };
  const color = kind => getComputedStyle(document.documentElement).getPropertyValue(`--class-${kind}`).trim();
  /** The share of pixels of a row, counted from the top, that have the colour of a class. */
  const shareOf = (row, kind) => {
    const { width } = canvas;
    const left = canvas.clientWidth < 600 ? 44 : 92;
    const height = (canvas.clientHeight - 24) / 8;
    const top = Math.round((24 + row * height + 3) * devicePixelRatio);
    const image = canvas.getContext("2d").getImageData(left, top, width - left, Math.round(height - 8));
    const [r, g, b] = color(kind).slice(1).match(/../g).map(part => parseInt(part, 16));
    let count = 0;
    for (let i = 0; i < image.data.length; i += 4) {
      count += image.data[i] === r && image.data[i + 1] === g && image.data[i + 2] === b;
    }
    return count / (image.data.length / 4);
  };
  const at = (kind, x, y, more = {}) => {
    const { left, top } = canvas.getBoundingClientRect();
    const about = { clientX: left + x, clientY: top + y, bubbles: true, cancelable: true, ...more };
    const Kind = kind === "wheel" ? WheelEvent : PointerEvent;
    canvas.dispatchEvent(new Kind(kind, { pointerId: 1, isPrimary: true, ...about }));
  };
  const change = (id, value, kind) => {
    $(id).value = value;
    $(id).dispatchEvent(new Event(kind, { bubbles: true }));
  };
  // A pointer that does not exist cannot be captured.
  Element.prototype.setPointerCapture = () => {};
  const run = async () => {
    await drawn();
    seen.width = innerWidth;
    seen.whole = $("span").textContent;
    seen.lateComputes = shareOf(5, 0);
    seen.othersCompute = shareOf(3, 0);
    const inner = canvas.clientWidth - (canvas.clientWidth < 600 ? 44 : 92);
    const left = canvas.clientWidth - inner;
    const before = span();
    const x = left + inner * 0.25;
    for (let i = 0; i < 8; i++) at("wheel", x, 60, { deltaY: -100 });
    await drawn();
    const zoomed = span();
    const length = ({ from, to }) => to - from;
    seen.zoomed = length(zoomed) / length(before);
    seen.stays = Math.abs(zoomed.from + length(zoomed) * 0.25 - (before.from + length(before) * 0.25)) / length(before);
    at("pointerdown", left + 100, 60);
    at("pointermove", left + 40, 60);
    at("pointerup", left + 40, 60);
    await drawn();
    seen.moved = (span().from - zoomed.from) / length(zoomed);
    // Rank 6 waits for rank 5: its calls, one after the other, until one has waited.
    for (let i = 0; i < 7; i++) key("ArrowDown");
    await drawn();
    for (let i = 0; i < 20 && !$("call").textContent.includes("late sender"); i++) {
      key("n");
      await wait(50);
    }
    seen.call = $("call").textContent;
    seen.arrows = $("span").textContent;
    seen.ink = shareOf(6, 2) + shareOf(5, 0);
    key("Escape");
    change("sort", "caused", "change");
    key("Home");
    await drawn();
    for (let i = 0; i < 20; i++) key("ArrowUp");
    await wait(100);
    seen.row = $("status").textContent;
    seen.first = seen.row.split(":")[0];
    $("late").click();
    await wait(200);
    await drawn();
    seen.late = $("call").textContent;
    seen.lateWords = $("status").textContent;
    const found = JSON.parse($("facts").textContent).delay;
    [seen.from, seen.to] = [found.from / 1e9, found.to / 1e9];
    [seen.lateBegan, seen.lateEnded] = [span().from, span().to];
    key("Escape");
    key("Home");
    await drawn();
    change("bins", "12", "input");
    change("scale", "linear", "change");
    change("state", "routine MPI_Init", "change");
    await drawn();
    const init = $("summary").textContent;
    if (!init.includes("8 times")) errors.push(init);
    for (let i = 0; i < 12; i++) key(">");
    $("lines").style.height = "44px";
    dispatchEvent(new Event("resize"));
    change("state", "routine MPI_Waitall", "change");
    await drawn();
    // One row is in view: the late rank.
    seen.summary = $("summary").textContent;
    seen.bins = Number($("bincount").textContent);
    seen.inBins = [...$("bintable").rows].reduce((sum, row) => sum + Number(row.cells[2].textContent), 0);
    seen.longest = $("longest").children.length;
    $("lines").style.height = "";
    // Without a place on the screen, nothing is drawn, and nothing fails.
    for (const id of ["lines", "overview"]) {
      $(id).style.display = "none";
      dispatchEvent(new Event("resize"));
      await drawn();
      $(id).style.display = "";
    }
    dispatchEvent(new Event("resize"));
    await drawn();
    const channels = text => text.match(/[\d.]+/g).map(Number);
    const linear = part => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = channels(getComputedStyle(document.body).backgroundColor);
    seen.ground = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    seen.scroll = document.documentElement.scrollWidth;
    Object.assign(seen, { contrast: { contrast: 21 }, size: { size: 12 }, unreachable: 0 });
  };
  leave(run, seen);
}
