// The chats of a platform, with their topics and threads.

import { avatar } from '../lib/avatar.js';
import { h, keyed, setText } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { roving } from '../lib/roving.js';
import { everything, platform, platformSetup, typing } from '../model/world.js';
import { goTo, placeOf, threadsBeside } from '../places.js';
import { skins } from '../skin/skins.js';

const seen = new Map(); // platform/chat/thread → time of the newest message that was seen

function entries(name) {
  const out = [];
  for (const chat of platform(name).chats.values()) {
    out.push({ chat, thread: '' });
    if (!threadsBeside(name)) for (const t of chat.threads ?? []) out.push({ chat, thread: t.id, t });
  }
  return out;
}

function labelOf(name, { chat, t }) {
  if (t) return skins[name].threadName(t);
  return chat.direct ? platformSetup(name).bot.name : skins[name].chatName(chat);
}

/** chatList makes the list; chosen is called when a chat was chosen. */
export function chatList(name, chosen) {
  const skin = skins[name];
  const list = h('ul', { class: 'chats', 'aria-label': `${skin.title}: ${skin.groups}` });
  const el = h('nav', { class: 'sidebar', 'aria-label': `${skin.title} chats` },
    h('p', { class: 'sidebar-title', 'aria-hidden': 'true', text: name === 'telegram' ? 'Chats' : 'Miniature' }), list);
  const settle = roving(list, 'button');

  function make({ chat, thread, t }) {
    const symbol = t ? icon(name === 'discord' ? 'thread' : 'hash') : name === 'telegram' || chat.direct ? avatar(chat.direct ? platformSetup(name).bot : chat) : icon('hash');
    return h('li', { class: t ? 'sub' : '' }, h('button', {
      type: 'button', class: 'chat',
      onclick: () => {
        goTo(name, { chat: chat.id, thread });
        chosen();
      },
    }, h('span', { class: 'chat-symbol' }, symbol), h('span', { class: 'chat-words' }, h('span', { class: 'chat-name' }), h('span', { class: 'chat-last' })), h('span', { class: 'unread', hidden: true })));
  }

  function update(li, e) {
    const button = li.firstElementChild;
    const place = placeOf(name);
    const current = place.chat === e.chat.id && place.thread === e.thread;
    const all = everything(name, e.chat.id, threadsBeside(name) ? '*' : e.thread).filter((m) => !m.deleted);
    const last = all.at(-1);
    const key = `${name}/${e.chat.id}/${e.thread}`;
    if (!seen.has(key) || current) seen.set(key, last?.at ?? 0);
    const unread = all.filter((m) => m.at > seen.get(key) && m.from.bot).length;
    const busy = typing(name, e.chat.id, e.thread);
    button.setAttribute('aria-current', String(current));
    setText(button.querySelector('.chat-name'), labelOf(name, e));
    const words = button.querySelector('.chat-last');
    setText(words, busy ? 'typing…' : last ? (last.text || last.files?.[0]?.name || '').slice(0, 60) : '');
    words.classList.toggle('busy', Boolean(busy));
    const mark = button.querySelector('.unread');
    mark.hidden = !unread;
    setText(mark, String(unread));
    mark.setAttribute('aria-label', `${unread} new`);
    mark.setAttribute('role', 'img');
  }

  return { el, update() {
    keyed(list, entries(name), (e) => `${e.chat.id}/${e.thread}`, make, update);
    settle();
  } };
}
