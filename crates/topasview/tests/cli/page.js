// Measures the page as the browser shows it, and leaves the results in the page around it.
{
  const scripts = document.scripts.length - 1;
  const channels = text => text.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const linear = part => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = element => {
    const svg = element.closest("svg");
    if (svg) return channels(getComputedStyle(svg.querySelector("rect")).fill);
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length == 3 || color[3] == 1) return color;
    }
    return [255, 255, 255];
  };
  const visible = element => element.getClientRects().length > 0 && !element.closest("title,desc,style,script");
  const hasText = element => [...element.childNodes].some(node => node.nodeType == 3 && node.data.trim());
  const texts = [...document.body.querySelectorAll("*")].filter(hasText).filter(visible);
  const measured = texts.map(element => {
    const style = getComputedStyle(element);
    const svg = element.closest("svg");
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    return {
      text: element.textContent.trim().slice(0, 40),
      contrast: contrast(channels(svg ? style.fill : style.color), ground(element)),
      size: parseFloat(style.fontSize) * scale,
    };
  });
  const least = what => measured.reduce((a, b) => (b[what] < a[what] ? b : a));
  // What assistive programs find a way by: names, landmarks, headings in order, headings of tables.
  const all = selector => [...document.querySelectorAll(selector)].filter(visible);
  const label = element => {
    const by = element.getAttribute("aria-labelledby");
    const told = element.getAttribute("aria-label") || (by && document.getElementById(by)?.textContent)
      || element.labels?.[0]?.textContent || element.textContent;
    return (told || "").trim();
  };
  const levels = all("h1,h2,h3,h4,h5,h6").map(heading => Number(heading.tagName[1]));
  const choices = all("input[type=radio]").map(label);
  const focusable = [...document.querySelectorAll("a[href],button,input,select,[tabindex='0']")]
    .filter(element => element.type != "hidden");
  const faults = [];
  const fault = (is, what) => is && faults.push(what);
  fault(!document.documentElement.lang, "no language");
  fault(!document.title.trim(), "no title");
  fault(all("main").length != 1, "not one main");
  fault(levels.filter(level => level == 1).length != 1, "not one h1");
  fault(levels.some((level, at) => level > (at ? levels[at - 1] : 0) + 1), "a level of headings is left out: " + levels);
  for (const element of all("nav,section,[role=region],[role=search],svg,figure svg,input,button,a[href],th"))
    fault(element.type != "hidden" && !label(element), "without a name: " + element.outerHTML.slice(0, 80));
  for (const element of all("th")) fault(!element.scope, "no scope: " + element.outerHTML.slice(0, 80));
  for (const element of all("[aria-labelledby]"))
    fault(!document.getElementById(element.getAttribute("aria-labelledby")), "named by nothing");
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  fault(new Set(ids).size != ids.length, "an id stands twice");
  fault(new Set(choices).size != choices.length, "choices with the same name");
  const first = focusable[0];
  fault(first?.tagName != "A" || !document.querySelector(first.getAttribute("href"))?.closest("main"),
    "the first link does not lead to the content");
  for (const text of all("body *").filter(hasText))
    fault(!text.closest("main,header,footer,.skip"), "outside of landmarks: " + text.outerHTML.slice(0, 80));
  // Lines in cells of tables, without those in words and with names that anybody may choose.
  const cells = all("td,th").filter(cell => !cell.matches(".list,.t") && !cell.querySelector("p,svg,.bar,label"));
  const lines = cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range.getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight);
  };
  // The ground of pictures: the lightest and the darkest of them.
  const grounds = all("svg").map(svg => luminance(channels(getComputedStyle(svg.querySelector("rect")).fill)));
  const results = {
    lines: Math.max(0, ...cells.map(lines)),
    grounds: grounds.length ? [Math.min(...grounds), Math.max(...grounds)] : [],
    faults,
    scripts,
    width: innerWidth,
    scroll: document.documentElement.scrollWidth,
    texts: measured.length,
    pictures: [...document.querySelectorAll("svg")].filter(visible).length,
    ground: luminance(channels(getComputedStyle(document.body).backgroundColor)),
    contrast: least("contrast"),
    size: least("size"),
    unreachable: [...document.querySelectorAll("*")].filter(
      element => visible(element) && element.scrollWidth > element.clientWidth + 1
        && getComputedStyle(element).overflowX == "auto" && element.tabIndex != 0).length,
  };
  parent.document.body.append("measured:" + JSON.stringify(results) + ":end");
}
