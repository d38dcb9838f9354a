// The bot's calls of the platform's API, newest first.

import { h, keyed, setText } from '../lib/dom.js';
import { hms } from '../lib/format.js';
import { platform } from '../model/world.js';
import { inspected } from '../places.js';

const SHOWN = 150;

const kind = (c) => (c.status === 429 ? 'limited' : c.status === 0 || c.status >= 400 || c.error ? 'failed' : 'ok');

/** callsView makes the view. */
export function callsView() {
  const counts = h('p', { class: 'summary' });
  const here = h('input', { type: 'checkbox', checked: false, onchange: () => update() });
  const body = h('tbody');
  const el = h('div', { class: 'calls' }, h('div', { class: 'calls-top' }, counts, h('label', { class: 'check' }, here, 'only this chat')),
    h('table', {}, h('thead', {}, h('tr', {}, ['Time', 'What', 'Method', 'Status', 'Took', 'Error'].map((t) => h('th', { scope: 'col', text: t })))), body));

  function make(c) {
    return h('tr', { class: `call ${kind(c)}` }, h('td', { class: 'num', text: hms(c.at) }), h('td', {}, h('span', { class: `op op-${c.op}`, text: c.op })), h('td', { class: 'method', text: c.method }),
      h('td', { class: 'num', text: c.status || 'cut' }), h('td', { class: 'num', text: `${c.took} ms` }), h('td', { class: 'error', text: c.error ?? '' }));
  }

  function update() {
    const at = inspected();
    const all = [...platform(at.platform).calls.values()].filter((c) => !here.checked || c.chat === at.chat);
    const limited = all.filter((c) => kind(c) === 'limited').length;
    const failed = all.filter((c) => kind(c) === 'failed').length;
    setText(counts, `${all.length} calls · ${limited} × 429 · ${failed} failed`);
    keyed(body, all.slice(-SHOWN).reverse(), (c) => c.n, make);
  }
  return { el, update };
}
