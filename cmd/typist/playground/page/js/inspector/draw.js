// Draws a timeline as SVG. Colours are custom properties, or given ones for a saved picture.

import { s } from '../lib/dom.js';
import { span } from '../lib/format.js';

const LEFT = 76;
const RIGHT = 14;
const TICKS = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000];

const VARS = Object.fromEntries(['ink', 'faint', 'line', 'run', 'shown', 'bad', 'paused', 'post', 'edit', 'lapse'].map((n) => [n, `var(--t-${n})`]));

/** drawTimeline fills an SVG element with a range of time. */
export function drawTimeline(svg, data, { from, to }, width, height, colours = VARS) {
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('width', width);
  svg.setAttribute('height', height);
  const x = (ms) => LEFT + ((Math.min(Math.max(ms, from), to) - from) / (to - from)) * (width - LEFT - RIGHT);
  const axis = height - 18;
  const row = Math.min(46, (axis - 8) / 3);
  const rows = { run: 6, shown: 6 + row, posts: 6 + 2 * row };
  const bar = Math.min(26, Math.max(10, row - 14));
  const out = [];
  const text = (content, at, y, more = {}) => out.push(s('text', { x: at, y, fill: colours.faint, 'font-size': 11, 'font-family': 'system-ui, sans-serif', ...more }, content));
  const rect = (a, b, y, fill, title, more = {}) => {
    if (b < from || a > to) return;
    const left = x(a);
    out.push(s('rect', { x: left, y, width: Math.max(1.5, x(b) - left), height: bar, rx: 3, fill, ...more }, s('title', {}, title)));
  };

  const step = TICKS.find((t) => ((to - from) / t) * 64 < width - LEFT) ?? TICKS.at(-1);
  const zero = data.runs.findLast((r) => r.started <= to)?.started ?? from;
  for (let t = zero + Math.ceil((from - zero) / step) * step; t <= to; t += step) {
    out.push(s('line', { x1: x(t), x2: x(t), y1: 4, y2: axis, stroke: colours.line, 'stroke-width': 1 }));
    const seconds = Math.round((t - zero) / 100) / 10;
    text(`${seconds} s`, x(t), height - 4, { 'text-anchor': 'middle' });
  }
  text('run', 4, rows.run + bar - 2, { fill: colours.ink });
  text('indicator', 4, rows.shown + bar - 2, { fill: colours.ink });
  text('messages', 4, rows.posts + bar - 2, { fill: colours.ink });

  for (const run of data.runs) {
    rect(run.started, run.ended || data.now, rows.run, colours.run, `run, ${span((run.ended || data.now) - run.started)}`);
    for (const w of run.waits) rect(w.from, w.to || data.now, rows.run, colours.paused, 'waits for a person');
  }
  for (const show of data.shows) {
    const end = Math.min(show.end, data.now);
    rect(show.start, end, rows.shown, colours.shown, `shown ${span(end - show.start)}, ${show.pulses} ${show.pulses === 1 ? 'pulse' : 'pulses'}${show.text ? `: ${show.text}` : ''}${show.why ? `, ended by ${show.why}` : ''}`);
  }
  for (const run of data.runs) {
    for (const g of run.cover.gaps) rect(g.start, g.end, rows.shown, colours.bad, `gap of ${span(g.end - g.start)}`, { opacity: 0.9 });
    for (const g of run.cover.ghosts) rect(g.start, Math.min(g.end, data.now), rows.shown, colours.bad, `ghost of ${span(g.end - g.start)}`);
    for (const g of run.cover.lapses) rect(g.start, Math.min(g.end, data.now), rows.shown, colours.lapse, 'lapses after a silent run');
  }
  const y = rows.posts + bar / 2;
  for (const c of data.calls) {
    if (c.at < from || c.at > to) continue;
    const at = x(c.at + c.took);
    const good = c.status >= 200 && c.status < 300 && !c.error;
    if (c.op === 'pulse' && good) out.push(s('line', { x1: at, x2: at, y1: rows.shown + bar + 1, y2: rows.shown + bar + 5, stroke: colours.shown, 'stroke-width': 1.5 }, s('title', {}, 'pulse')));
    else if (c.op === 'edit' && good) out.push(s('rect', { x: at - 3.5, y: y - 3.5, width: 7, height: 7, transform: `rotate(45 ${at} ${y})`, fill: colours.edit }, s('title', {}, 'edit')));
    else if (!good) {
      const level = (c.op === 'pulse' ? rows.shown + bar : y) + 2;
      out.push(s('path', { d: `M${at - 4} ${level - 4}l8 8m0-8l-8 8`, stroke: colours.bad, 'stroke-width': 2, 'stroke-linecap': 'round' }, s('title', {}, `${c.op}: ${c.status || 'cut'} ${c.error ?? ''}`)));
    }
  }
  for (const m of data.posts) {
    if (m.at >= from && m.at <= to) out.push(s('circle', { cx: x(m.at), cy: y, r: 5, fill: m.deleted ? 'none' : colours.post, stroke: colours.post, 'stroke-width': 1.5 }, s('title', {}, `${m.deleted ? 'posted, deleted later' : 'posted'}: ${m.text.slice(0, 80)}`)));
  }
  if (data.now <= to) out.push(s('line', { x1: x(data.now), x2: x(data.now), y1: 2, y2: axis, stroke: colours.ink, 'stroke-width': 1, 'stroke-dasharray': '2 3' }));
  svg.replaceChildren(...out);
}
