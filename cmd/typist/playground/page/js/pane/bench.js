// What we can do to a platform, above it: a heartbeat, faults, and let the inspector look at it.

import { on } from '../lib/bus.js';
import { h, setText } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { popover } from '../lib/popover.js';
import { post } from '../net/api.js';
import { platform } from '../model/world.js';
import { focusPane, focused, inspected } from '../places.js';
import { skins } from '../skin/skins.js';
import { faultPanel } from '../faults.js';

/** bench makes the bench of a platform. */
export function bench(name) {
  const { title } = skins[name];
  const count = h('span', { class: 'count', hidden: true });
  const bolt = h('button', { type: 'button', class: 'bench-key', 'aria-haspopup': 'dialog', 'aria-expanded': 'false', onclick: () => popover(faultPanel(name), bolt) }, icon('bolt'), h('span', { text: 'Faults' }), count);
  const look = h('button', { type: 'button', class: 'bench-key look', 'aria-pressed': 'false', onclick: () => focusPane(name) }, icon('eye'), h('span', { text: 'Inspect' }));
  const el = h('header', { class: 'bench' }, h('h2', { text: title }), h('span', { class: 'spring' }),
    h('button', { type: 'button', class: 'bench-key', title: 'Begin a heartbeat in this chat', onclick: () => post('heartbeat', inspectedTarget(name)) }, icon('heart'), h('span', { text: 'Heartbeat' })), bolt, look);
  on(name, () => {
    const n = platform(name).faults.length;
    count.hidden = !n;
    setText(count, String(n));
    bolt.classList.toggle('on', n > 0);
  });
  on('focus', () => look.setAttribute('aria-pressed', String(focused === name)));
  return el;
}

function inspectedTarget(name) {
  const { chat, thread } = inspected(name);
  return { platform: name, chat, thread };
}
