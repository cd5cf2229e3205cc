#include "export/page_look.hpp"

namespace tenon::exporting {
namespace {

const char* const style = R"css(
:root { color-scheme: light dark; --bg: #f4f5f7; --card: #fff; --line: #dde1e6; --grid: #eceef1; --ink: #1f242b;
  --ink-2: #626b77; --head: #eef1f4; --good: #1d5c2a; --good-bg: #e3f2e6; --bad: #8c1d14; --bad-bg: #fbe4e2;
  --accent: #c65f1c; }
@media (prefers-color-scheme: dark) { :root { --bg: #1b1e23; --card: #23272e; --line: #363c46; --grid: #2f353e;
  --ink: #e8ebef; --ink-2: #9aa3b0; --head: #2b3038; --good: #9be0ae; --good-bg: #1d3a26; --bad: #ffb0a8;
  --bad-bg: #47211e; --accent: #f08a3c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 26px; margin: 0 0 2px; overflow-wrap: anywhere; } h2 { font-size: 18px; margin: 34px 0 10px; }
h3 { font-size: 15px; margin: 4px 4px 8px; overflow-wrap: anywhere; }
.sub { color: var(--ink-2); margin: 0 0 18px; }
figure { margin: 0 0 18px; } img { width: 100%; height: auto; display: block; border-radius: 6px; }
figcaption { color: var(--ink-2); font-size: 13px; padding: 6px 2px; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 14px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px; position: relative;
  min-width: 0; overflow: hidden; }
.card svg { width: 100%; height: auto; display: block; }
.card p { margin: 6px 4px; overflow-wrap: anywhere; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
table { border-collapse: collapse; width: 100%; }
td, th { padding: 5px 12px; border-bottom: 1px solid var(--grid); text-align: left; vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td:first-child { white-space: nowrap; }
th { background: var(--head); font-weight: 600; white-space: nowrap; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.pass { color: var(--good); font-weight: 650; } td.fail { color: var(--bad); font-weight: 650; }
.facts td:first-child { color: var(--ink-2); white-space: nowrap; width: 1%; }
.facts td { overflow-wrap: anywhere; }
.verdict { padding: 6px 12px; border-radius: 6px; margin: 6px 0; overflow-wrap: anywhere; }
.good { background: var(--good-bg); color: var(--good); } .bad { background: var(--bad-bg); color: var(--bad); }
svg .bg { fill: var(--card); } svg text { fill: var(--ink); } svg .minor { fill: var(--ink-2); }
svg .gridline { stroke: var(--grid); } svg .axis { stroke: var(--ink-2); }
svg .cursor { stroke: var(--accent); stroke-width: 1; visibility: hidden; }
.tip { position: absolute; pointer-events: none; background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; padding: 4px 8px; font-size: 12px; line-height: 1.4; box-shadow: 0 4px 14px #0003;
  font-variant-numeric: tabular-nums; white-space: nowrap; max-width: 96%; overflow: hidden; z-index: 2; }
.tip i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 5px; }
@media (max-width: 600px) { main { padding: 16px 10px 40px; } h1 { font-size: 21px; } td, th { padding: 4px 8px; }
  .facts td:first-child { white-space: normal; overflow-wrap: break-word; } }
)css";

// Finds the point of each line nearest to the pointer and says its value; the plot tells how pixels are numbers.
const char* const script = R"js(
for (const plot of document.querySelectorAll('svg [data-plot]')) {
  const svg = plot.ownerSVGElement, card = svg.parentElement, box = JSON.parse(plot.dataset.plot);
  const lines = [...plot.querySelectorAll('polyline[data-label]')].map((line) => ({
    label: line.dataset.label, color: line.getAttribute('stroke'),
    points: line.getAttribute('points').trim().split(' ').map((p) => p.split(',').map(Number)) }));
  if (!lines.length) continue;
  const value = (axis, part) => axis[2] ? 10 ** (Math.log10(axis[0]) + part * (Math.log10(axis[1]) - Math.log10(axis[0])))
    : axis[0] + part * (axis[1] - axis[0]);
  const short = (x) => Number(x.toPrecision(4)).toString();
  const cursor = plot.querySelector('.cursor');
  let tip;
  const hide = () => { tip?.remove(); tip = undefined; cursor.style.visibility = 'hidden'; };
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('pointermove', (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    if (at.x < box.l - 4 || at.x > box.r + 4 || at.y < box.t || at.y > box.b) return hide();
    if (!tip) card.append(tip = Object.assign(document.createElement('div'), { className: 'tip' }));
    let near = lines[0].points[0];
    const found = lines.map((line) => {
      const point = line.points.reduce((best, p) => Math.abs(p[0] - at.x) < Math.abs(best[0] - at.x) ? p : best);
      if (Math.abs(point[0] - at.x) < Math.abs(near[0] - at.x)) near = point;
      return { line, point };
    });
    const shown = new Map();
    for (const { line, point } of found) {
      const old = shown.get(line.label);
      if (!old || Math.abs(point[0] - at.x) < Math.abs(old.point[0] - at.x)) shown.set(line.label, { line, point });
    }
    const rows = [...shown.values()].map(({ line, point }) => {
      const row = document.createElement('div'), mark = document.createElement('i');
      mark.style.background = line.color;
      row.append(mark, `${line.label ? line.label + ': ' : ''}${short(value(box.y, (box.b - point[1]) / (box.b - box.t)))} ${box.yl}`);
      return row;
    });
    const head = document.createElement('div');
    head.textContent = `${box.xl} ${short(value(box.x, (near[0] - box.l) / (box.r - box.l)))}`;
    tip.replaceChildren(head, ...rows);
    cursor.setAttribute('x1', near[0]); cursor.setAttribute('x2', near[0]);
    cursor.style.visibility = 'visible';
    const area = card.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    tip.style.left = `${Math.max(0, Math.min(x + 14, area.width - tip.offsetWidth - 6))}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 14, area.height - tip.offsetHeight - 6))}px`;
  });
}
)js";

}  // namespace

std::string markup_escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                // XML has no other control characters, and a page shows none.
                if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
                    out += "\xef\xbf\xbd";  // the replacement character
                else
                    out += c;
        }
    }
    return out;
}

std::string page_head(const std::string& title) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\">\n<title>" +
           markup_escaped(title) + "</title>\n<style>" + style + "</style>\n</head>\n";
}

std::string page_tail() {
    return std::string("<script>") + script + "</script>\n";
}

}  // namespace tenon::exporting
