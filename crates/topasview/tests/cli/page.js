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
  const results = {
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
