// The menu of prepared scripts.

import { h } from '../lib/dom.js';
import { closePopover } from '../lib/popover.js';
import { roving } from '../lib/roving.js';
import { setup } from '../model/world.js';
import { skins } from '../skin/skins.js';
import { allPanes, playDemo } from './player.js';

let where = 'all';

/** demoPanel is the menu. */
export function demoPanel(demos) {
  const options = { all: 'All three', ...Object.fromEntries(setup.platforms.map((p) => [p.name, skins[p.name].title])) };
  const choose = h('div', { class: 'segments', role: 'radiogroup', 'aria-label': 'Play in' },
    Object.entries(options).map(([value, text]) => h('label', {}, h('input', { type: 'radio', name: 'where', value, checked: value === where, onchange: () => { where = value; } }), h('span', { text }))));
  const list = h('ul', { class: 'demos', 'aria-label': 'Scripts' }, demos.map((d, i) => h('li', {}, h('button', {
    type: 'button', class: 'demo', 'data-demo': d.name, autofocus: i === 0,
    onclick: () => {
      closePopover();
      playDemo(d, where === 'all' ? allPanes() : [where]);
    },
  }, h('b', { text: d.title }), h('span', { text: d.about })))));
  const el = h('div', { class: 'panel demo-panel', role: 'dialog', 'aria-label': 'Prepared scripts' },
    h('p', { class: 'hint', text: 'Each is played for you, in a minute at most.' }), choose, list);
  roving(list, 'button');
  return el;
}
