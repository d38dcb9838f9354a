// What can be made to go wrong with a platform (W4).

import { h } from './lib/dom.js';
import { icon } from './lib/icons.js';
import { closePopover } from './lib/popover.js';
import { post } from './net/api.js';
import { platform } from './model/world.js';
import { skins } from './skin/skins.js';

const OPS = { '': 'any call', pulse: 'typing indicator', send: 'new message', edit: 'edit', delete: 'delete', ack: 'acknowledgement' };
const WHATS = {
  limited: { label: '429: too many, wait 5 s', fault: { status: 429, retryAfter: 5000 } },
  slow: { label: 'slow: 3 s', fault: { delay: 3000 } },
  error: { label: '500: server error', fault: { status: 500 } },
  denied: { label: '403: not allowed', fault: { status: 403 } },
  before: { label: 'cut before it is carried out', fault: { cut: 'before' } },
  after: { label: 'carried out, the answer is lost', fault: { cut: 'after' } },
};
const TIMES = { once: { label: 'once', times: 1 }, thrice: { label: 'three times', times: 3 }, always: { label: 'until mended', times: 0 } };

const select = (label, options, props) => h('label', { class: 'field' }, h('span', { text: label }),
  h('select', props, Object.entries(options).map(([value, text]) => h('option', { value, text: text.label ?? text }))));

/** describe says what a fault does. */
export function describe(f) {
  const what = f.cut === 'after' ? 'answer lost' : f.cut ? 'cut' : f.status ? `${f.status}${f.retryAfter ? `, wait ${f.retryAfter / 1000} s` : ''}` : `${f.delay / 1000} s slow`;
  return `${OPS[f.op ?? ''] ?? f.op}: ${what}${f.times ? ` (${f.times} left)` : ''}`;
}

/** faultPanel is the panel for a platform. */
export function faultPanel(name) {
  const op = select('What fails', OPS, { autofocus: true });
  const what = select('How', WHATS);
  const times = select('How often', TIMES);
  op.querySelector('select').value = 'pulse';
  const value = (field) => field.querySelector('select').value;
  const list = h('ul', { class: 'fault-list' });
  const show = () => {
    const { faults } = platform(name);
    list.replaceChildren(...faults.map((f) => h('li', { text: describe(f) })));
    list.hidden = !faults.length;
  };
  show();
  const add = async () => {
    await post('fault', { platform: name, fault: { op: value(op), times: TIMES[value(times)].times, ...WHATS[value(what)].fault } });
    closePopover();
  };
  return h('div', { class: 'panel', role: 'dialog', 'aria-label': `${skins[name].title}: faults` },
    h('h3', { text: `What goes wrong on ${skins[name].title}` }), list, op, what, times,
    h('div', { class: 'panel-row' },
      h('button', { type: 'button', class: 'button primary', onclick: add }, icon('bolt'), 'Inject'),
      h('button', { type: 'button', class: 'button', onclick: () => { post('mend', { platform: name }); closePopover(); } }, 'Mend all')),
    h('button', { type: 'button', class: 'button wide', onclick: () => { post('disconnect', { platform: name, seconds: 5 }); closePopover(); } }, 'Disconnect for 5 s'));
}
