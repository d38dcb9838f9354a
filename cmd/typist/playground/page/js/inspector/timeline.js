// The timeline: the run's bar against the indicator's, gaps and ghosts in red, and what was posted
// and edited. It runs along while something happens.

import { h, keyed, s, setText } from '../lib/dom.js';
import { hms, span } from '../lib/format.js';
import { roving } from '../lib/roving.js';
import { inspectedData, stateOf } from './data.js';
import { drawTimeline } from './draw.js';

const LIVE_MS = 45_000;
const FRAME_MS = 250;
const MAX_HEIGHT = 260;
const LEGEND = { run: 'run', shown: 'indicator (ticks: pulses)', gap: 'gap or ghost', lapse: 'lapses after silence', paused: 'waits for a person', post: 'post', edit: 'edit', fail: 'refused or failed call' };

/** rangeOf is the stretch of time that shows: a run's, or the last seconds. */
export function rangeOf(run, now) {
  if (!run) return { from: now - LIVE_MS, to: now + 1000 };
  const to = run.ended ? Math.max(run.ended, ...run.cover.ghosts.map((g) => Math.min(g.end, now)), ...run.cover.lapses.map((g) => Math.min(g.end, now))) + 1500 : now + 1000;
  const lead = Math.max(600, (to - run.started) * 0.02);
  return { from: run.started - lead, to };
}

/** summary says in words what a run's bars show. */
export function summary(run) {
  if (!run) return 'No run in this chat yet. Write something, or play one of the scripts.';
  const { cover } = run;
  const parts = [run.ended ? `Run ${stateOf(run)} after ${span(run.ended - run.started)}` : 'The run is at work'];
  if (cover.first === undefined) parts.push('the indicator did not show');
  else {
    parts.push(`first pulse after ${span(cover.first - run.started)}`, `indicator ${span(cover.shown)} of ${span(cover.total)}`);
    parts.push(cover.gaps.length ? `${cover.gaps.length} ${cover.gaps.length === 1 ? 'gap' : 'gaps'}` : 'no gap');
  }
  if (run.ended) {
    parts.push(cover.ghosts.length ? `ghost of ${span(cover.ghosts.reduce((n, g) => n + g.end - g.start, 0))}` : 'no ghost');
  }
  return `${parts.join(' · ')}.`;
}

/** timelineView makes the view. */
export function timelineView() {
  const words = h('p', { class: 'summary' });
  const chips = h('div', { class: 'run-chips', role: 'group', 'aria-label': 'Runs' });
  const drawing = s('svg', { class: 'drawing', role: 'img' });
  const el = h('div', { class: 'timeline' }, h('div', { class: 'timeline-top' }, chips, words), h('div', { class: 'drawing-box' }, drawing),
    h('p', { class: 'legend', 'aria-hidden': 'true' }, Object.entries(LEGEND).map(([k, text]) => h('span', { class: `key-${k}` }, h('i'), text))));
  const settle = roving(chips, 'button', { horizontal: true });
  let picked = null; // run id; null = the newest
  let timer = 0;

  function update() {
    clearTimeout(timer);
    const data = inspectedData();
    const newest = data.runs.at(-1);
    const run = data.runs.find((r) => r.id === picked) ?? newest;
    keyed(chips, data.runs.slice(-12), (r) => r.id, (r) => h('button', { type: 'button', class: 'run-chip', onclick: () => { picked = r.id === data.runs.at(-1)?.id ? null : r.id; update(); } }),
      (chip, r) => {
        setText(chip, `${hms(r.started).slice(0, 8)} ${stateOf(r)}`);
        chip.dataset.state = stateOf(r);
        chip.setAttribute('aria-pressed', String(r === run));
      });
    settle();
    setText(words, summary(run));
    const box = drawing.parentElement;
    if (box.clientWidth) {
      drawTimeline(drawing, data, rangeOf(run, data.now), box.clientWidth, Math.min(Math.max(96, box.clientHeight), MAX_HEIGHT));
      drawing.setAttribute('aria-label', summary(run));
    }
    const live = newest && (!newest.ended || data.now - newest.ended < 12_000) || data.shows.at(-1)?.end > data.now;
    if (live && el.isConnected && !el.closest('[hidden]')) timer = setTimeout(update, FRAME_MS);
  }

  new ResizeObserver(() => update()).observe(drawing.parentElement ?? el);
  return { el, update };
}
