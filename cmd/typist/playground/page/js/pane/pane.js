// One platform: its bench (what we can do to it) above, its client (what people see) below.

import { on } from '../lib/bus.js';
import { h } from '../lib/dom.js';
import { focusPane, focused, goTo, inspect, placeOf, threadsBeside } from '../places.js';
import { skins } from '../skin/skins.js';
import { bench } from './bench.js';
import { chatList } from './chatlist.js';
import { conversation } from './conversation.js';

/** makePane makes the pane of a platform. */
export function makePane({ name }) {
  const skin = skins[name];
  const client = h('div', { class: `client ${name}` });
  const pane = h('section', { class: 'pane', 'data-platform': name, 'aria-label': skin.title }, bench(name), client);
  const list = chatList(name, () => client.classList.remove('listing'));
  const main = conversation(name, {
    place: () => placeOf(name),
    head: { list: () => client.classList.toggle('listing') },
  });
  client.append(list.el, main.el);
  const parts = [list, main];
  if (threadsBeside(name)) {
    const thread = conversation(name, {
      place: () => ({ chat: placeOf(name).chat, thread: placeOf(name).open }),
      inThread: true,
      head: { close: () => goTo(name, { ...placeOf(name), open: '' }) },
    });
    client.append(thread.el);
    parts.push({ update: () => {
      const { open } = placeOf(name);
      client.classList.toggle('threading', Boolean(open));
      thread.el.hidden = !open;
      if (open) thread.update();
    } });
  }
  const update = () => {
    for (const part of parts) part.update();
    if (focused === name) inspect();
  };
  for (const topic of [name, `place ${name}`, 'ready', 'bot']) on(topic, update);
  on('focus', () => pane.classList.toggle('focused', focused === name));
  pane.addEventListener('focusin', () => focusPane(name));
  pane.addEventListener('pointerdown', () => focusPane(name));
  update();
  return pane;
}
