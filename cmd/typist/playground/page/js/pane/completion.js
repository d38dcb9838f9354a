// The list of commands that opens with "/", and of what a command takes.

import { h } from '../lib/dom.js';
import { setup } from '../model/world.js';

let lists = 0;

function options(value) {
  const name = /^\/(\w*)$/.exec(value);
  if (name) return setup.commands.filter((c) => c.name.startsWith(name[1].toLowerCase())).map((c) => ({ value: `/${c.name}${c.args ? ' ' : ''}`, title: `/${c.name}`, about: c.about }));
  const arg = /^\/(\w+)\s+(\S*)$/.exec(value);
  const command = arg && setup.commands.find((c) => c.name === arg[1].toLowerCase());
  if (!command?.choices) return [];
  return command.choices.filter((c) => c.startsWith(arg[2])).map((c) => ({ value: `/${command.name} ${c}`, title: c, about: command.args }));
}

/** completion makes the list for a text field; take is called with what was chosen. */
export function completion(text, take) {
  const id = `completion-${++lists}`;
  const el = h('ul', { class: 'completion', role: 'listbox', id, 'aria-label': 'Commands', hidden: true });
  let list = [];
  let at = 0;

  function mark() {
    [...el.children].forEach((li, i) => li.setAttribute('aria-selected', String(i === at)));
    const chosen = el.children[at];
    chosen?.scrollIntoView({ block: 'nearest' });
    if (chosen) text.setAttribute('aria-activedescendant', chosen.id);
  }

  function close() {
    el.hidden = true;
    text.removeAttribute('aria-activedescendant');
    text.removeAttribute('aria-controls');
  }

  function choose(i) {
    const { value } = list[i];
    close();
    take(value);
    text.focus();
  }

  function update() {
    list = options(text.value);
    if (list.length === 1 && list[0].value === text.value) list = [];
    if (!list.length) {
      close();
      return;
    }
    at = 0;
    el.replaceChildren(...list.map((o, i) => h('li', { role: 'option', id: `${id}-${i}`, onpointerdown: (e) => { e.preventDefault(); choose(i); } }, h('b', { text: o.title }), h('span', { text: o.about }))));
    el.hidden = false;
    text.setAttribute('aria-controls', id);
    mark();
  }

  text.addEventListener('blur', close);
  return {
    el,
    update,
    /** key handles a key of the text field and says whether it has. */
    key(e) {
      if (el.hidden) return false;
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (step) at = (at + step + list.length) % list.length;
      else if (e.key === 'Tab' || e.key === 'Enter' && list[at].value.trim() !== text.value.trim()) choose(at);
      else if (e.key === 'Escape') close();
      else return false;
      e.preventDefault();
      if (step) mark();
      return true;
    },
  };
}
