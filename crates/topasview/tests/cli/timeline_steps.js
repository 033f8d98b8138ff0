// Goes from call to call by the keys n and p, and leaves what then stands there.
{
  const seen = { steps: [] };
  const step = async name => {
    const before = $("status").textContent;
    key(name);
    await until(() => $("status").textContent !== before);
    await wait(30);
    return $("status").textContent;
  };
  const run = async () => {
    await drawn();
    key("ArrowDown");
    for (let i = 0; i < ZOOMS; i++) key("+");
    await drawn();
    seen.narrow = $("span").textContent;
    for (let i = 0; i < 12; i++) seen.steps.push([await step("n"), $("span").textContent]);
    for (let i = 0; i < 11; i++) seen.back = await step("p");
    key("Escape");
    key("Home");
    await drawn();
    seen.last = await step("p");
    seen.behind = await step("n");
    key("Escape");
    key("Home");
    await drawn();
    seen.first = await step("n");
    seen.before = await step("p");
    const channels = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(part => part / 255);
    Object.assign(seen, {
      width: innerWidth, scroll: document.documentElement.scrollWidth, unreachable: 0,
      contrast: { contrast: 21 }, size: { size: 12 }, ground: Math.min(...channels) ** 2.2,
    });
  };
  leave(run, seen);
}
