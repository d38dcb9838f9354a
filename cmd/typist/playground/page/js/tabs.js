// On a phone one pane shows at a time; these are the tabs.

import { on } from './lib/bus.js';
import { h, keyed } from './lib/dom.js';
import { setup, typing } from './model/world.js';
import { focusPane, focused, inspected } from './places.js';

const TITLES = { telegram: 'Telegram', discord: 'Discord', slack: 'Slack', inspector: 'Inspector' };

function show(tab) {
  document.documentElement.dataset.tab = tab;
  if (tab !== 'inspector') focusPane(tab);
}

/** tabs fills the navigation. */
export function tabs(nav) {
  const names = [...setup.platforms.map((p) => p.name), 'inspector'];
  const update = () => keyed(nav, names, (n) => n,
    (name) => h('button', { type: 'button', class: `tab tab-${name}`, onclick: () => { show(name); update(); } }, h('span', { text: TITLES[name] }), h('span', { class: 'tab-dot', 'aria-hidden': 'true' })),
    (el, name) => {
      el.setAttribute('aria-current', String(document.documentElement.dataset.tab === name));
      const at = name === 'inspector' ? null : inspected(name);
      el.classList.toggle('busy', Boolean(at && typing(name, at.chat, at.thread)));
    });
  document.documentElement.dataset.tab = names[0];
  update();
  for (const p of setup.platforms) on(p.name, update);
  on('focus', () => {
    if (document.documentElement.dataset.tab !== 'inspector') document.documentElement.dataset.tab = focused;
    update();
  });
}
