// The trace of the runs: thinking, text, tools, steps, and each subagent in an area of its own.

import { h, keyed, setText } from '../lib/dom.js';
import { hms, span } from '../lib/format.js';
import { previewOf } from '../model/runs.js';
import { inspectedData, stateOf } from './data.js';

const SHOWN_RUNS = 8;
const LONG = 4000; // characters of one text

const duration = (e, run) => span((e.ended || run.ended || Date.now()) - e.at);
const mark = (e) => (e.incomplete ? '…' : e.isError ? '✗' : e.ended ? '✓' : '●');

const titles = {
  thinking: (e, run) => [e.ended ? `Thought for ${duration(e, run)}` : 'Thinking…', e.text],
  text: (e) => ['Text', e.text],
  tool: (e, run) => [`${mark(e)} ${e.name ?? 'tool'}`, previewOf(e.args ?? ''), e.executes || e.ended ? duration(e, run) : 'writes the call'],
  step: (e) => [`${e.ended ? '✓' : '▸'} Step: ${e.name}`],
  subagent: (e, run) => [`${mark(e)} Subagent: ${e.name}`, '', duration(e, run)],
  approval: (e) => [`${e.ended ? '✓' : '?'} Approval: ${e.name ?? ''}`, e.text],
  file: (e) => [`File: ${e.name}`],
};

const bodies = {
  thinking: (e) => e.text,
  text: (e) => e.text,
  tool: (e) => [e.args, e.text].filter(Boolean).join('\n→ '),
};

function makeEntry(e) {
  const title = h('span', { class: 'entry-title' });
  const preview = h('span', { class: 'entry-preview' });
  const time = h('span', { class: 'entry-time num' });
  const body = h('pre', { class: 'entry-body' });
  const children = h('div', { class: 'area' });
  const head = [title, preview, time];
  const el = bodies[e.kind] ? h('details', { class: `entry entry-${e.kind}` }, h('summary', {}, head), body)
    : h('div', { class: `entry entry-${e.kind}` }, h('div', { class: 'entry-line' }, head), e.kind === 'subagent' && children);
  el.show = (entry, run) => {
    const [t, p = '', d = ''] = titles[entry.kind](entry, run);
    setText(title, t);
    setText(preview, p.replace(/\s+/g, ' ').slice(0, 160));
    setText(time, d);
    el.classList.toggle('failed', Boolean(entry.isError));
    el.classList.toggle('running', entry.open && !run.ended);
    if (bodies[entry.kind]) {
      const text = bodies[entry.kind](entry) ?? '';
      setText(body, text.length > LONG ? `…${text.slice(-LONG)}` : text);
    }
    if (entry.kind === 'subagent') showArea(children, run, entry.own);
  };
  return el;
}

function showArea(box, run, area) {
  const list = run.entries.filter((e) => e.area === area && titles[e.kind]);
  keyed(box, list, (e) => `${e.kind} ${e.id}`, makeEntry, (el, e) => el.show(e, run));
}

function makeRun() {
  const words = h('h4', {});
  const area = h('div', { class: 'area' });
  const el = h('section', { class: 'trace-run' }, words, area);
  el.show = (run) => {
    setText(words, `${hms(run.started)} · ${stateOf(run)} · ${span((run.ended || Date.now()) - run.started)} · ${run.lines} events${run.failure ? ` · ${run.failure.kind}${run.failure.detail ? `: ${run.failure.detail}` : ''}` : ''}`);
    el.dataset.state = stateOf(run);
    showArea(area, run, '');
  };
  return el;
}

/** traceView makes the view. */
export function traceView() {
  const none = h('p', { class: 'summary', text: 'No run in this chat yet.' });
  const list = h('div', { class: 'runs' });
  const el = h('div', { class: 'trace' }, none, list);
  function update() {
    const { runs } = inspectedData();
    none.hidden = runs.length > 0;
    keyed(list, runs.slice(-SHOWN_RUNS).reverse(), (r) => r.id, makeRun, (box, r) => box.show(r));
  }
  return { el, update };
}
