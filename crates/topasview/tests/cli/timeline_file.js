// Gives the page of time lines a wrong file and then its log, and leaves what then stands there.
{
  const seen = {};
  const bytes = Uint8Array.from(atob("LOG_IN_BASE64"), character => character.charCodeAt(0));
  const give = file => {
    const files = new DataTransfer();
    files.items.add(file);
    $("file").files = files.files;
    $("file").dispatchEvent(new Event("change"));
  };
  const run = async () => {
    await until(() => document.documentElement.dataset.drawn === "sums");
    seen.before = $("span").textContent;
    const other = bytes.slice();
    other[72] ^= 1;
    give(new File([other], "other.trace"));
    await until(() => $("status").textContent.includes("other.trace"));
    seen.wrong = $("status").textContent;
    give(new File([bytes], "run.trace"));
    await until(() => document.documentElement.dataset.drawn === "calls");
    seen.after = $("span").textContent;
    seen.hidden = $("opener").hidden;
    $("state").value = "routine MPI_Waitall";
    $("state").dispatchEvent(new Event("change"));
    await until(() => $("summary").textContent.includes("times in view"));
    seen.summary = $("summary").textContent;
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(part => part / 255);
    Object.assign(seen, {
      width: innerWidth, scroll: document.documentElement.scrollWidth, unreachable: 0,
      ground: (0.2126 * r + 0.7152 * g + 0.0722 * b) ** 2.2, contrast: { contrast: 21 }, size: { size: 12 },
    });
  };
  leave(run, seen);
}
