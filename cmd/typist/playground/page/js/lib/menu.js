// A menu of actions in a popover.

import { h } from './dom.js';
import { icon } from './icons.js';
import { closePopover, popover } from './popover.js';
import { roving } from './roving.js';

/** showMenu shows actions {label, icon, run, danger}. */
export function showMenu(opener, actions, { label, at } = {}) {
  const menu = h('div', { class: 'menu', role: 'menu', 'aria-label': label },
    actions.filter(Boolean).map((a) => h('button', {
      type: 'button', role: 'menuitem', class: a.danger ? 'menu-item danger' : 'menu-item', disabled: a.disabled,
      onclick: () => {
        closePopover();
        a.run();
      },
    }, a.icon && icon(a.icon), h('span', { text: a.label }))));
  popover(menu, opener, { at });
  const settle = roving(menu, '[role=menuitem]');
  menu.querySelector('[role=menuitem]')?.focus();
  settle();
}
