// A conversation: its head, its messages, its status line and its composer.

import { avatar } from '../lib/avatar.js';
import { h, keyed, setText } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { roving } from '../lib/roving.js';
import { messages, now, platform, platformSetup, typing } from '../model/world.js';
import { skins } from '../skin/skins.js';
import { composer } from './composer.js';
import { makeMessage } from './message.js';

const SHOWN = 200; // messages
const NEAR_END = 80; // pixels: a reader who is that near to the end stays there
const GROUP_MS = 5 * 60_000; // messages of one person within that time stand together

const dots = () => h('span', { class: 'dots', 'aria-hidden': 'true' }, h('i'), h('i'), h('i'));

/** conversation makes one; place() says what it shows. */
export function conversation(name, { place, inThread = false, head }) {
  const skin = skins[name];
  const title = h('h3', { class: 'conv-name' });
  const subtitle = h('span', { class: 'conv-sub' });
  const symbol = h('span', { class: 'conv-symbol' });
  // The one live region of a pane: whether the bot types. Streamed text is none.
  const words = h('span', { role: 'status', class: 'typing-words' });
  const status = h('div', { class: 'typing', 'aria-atomic': 'true' }, dots(), words);
  const list = h('ol', { class: 'messages', 'aria-label': 'Messages' });
  const scroller = h('div', { class: 'scroller' }, list);
  const write = composer(name, { place, inThread, say: () => toEnd() });
  const headRow = h('header', { class: 'conv-head' },
    head.list && h('button', { type: 'button', class: 'bare to-list', 'aria-label': 'Show the chats', onclick: head.list }, icon('menu')),
    symbol, h('div', { class: 'conv-title' }, title, subtitle, skin.statusIn === 'head' && status),
    head.close && h('button', { type: 'button', class: 'bare', 'aria-label': 'Close the thread', onclick: head.close }, icon('close')));
  const el = h('div', { class: inThread ? 'conversation thread' : 'conversation' }, headRow, scroller, write.el, skin.statusIn === 'foot' && status);
  const settle = roving(list, ':scope > li');
  const kept = new WeakMap(); // li → {m, first, replies}
  let shownPlace = '';
  let timer = 0;

  function toEnd() {
    scroller.scrollTop = scroller.scrollHeight;
  }

  new ResizeObserver(() => { if (atEnd) toEnd(); }).observe(scroller);
  let atEnd = true;
  scroller.addEventListener('scroll', () => { atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_END; });

  function rows() {
    const { chat, thread } = place();
    const mine = platformSetup(name).you;
    const visible = (m) => !m.private || m.private === mine;
    const own = messages(name, chat, thread).filter(visible);
    if (!inThread) return own.slice(-SHOWN);
    const root = messages(name, chat, '').find((m) => m.id === thread);
    return root ? [root, ...own.slice(-SHOWN)] : own.slice(-SHOWN);
  }

  function update() {
    const { chat, thread } = place();
    const info = platform(name).chats.get(chat);
    if (!info) return;
    const t = info.threads?.find((x) => x.id === thread);
    const label = inThread ? 'Thread' : info.direct ? platformSetup(name).bot.name : t ? skin.threadName(t) : skin.chatName(info);
    setText(title, label);
    const key = `${chat}/${thread}`;
    if (key !== shownPlace) {
      shownPlace = key;
      atEnd = true;
      list.replaceChildren();
      symbol.replaceChildren(...(inThread ? [] : [info.direct ? avatar(platformSetup(name).bot) : name === 'telegram' ? avatar(info) : icon(t ? 'thread' : 'hash')]));
      write.moved();
    }
    setText(subtitle, inThread ? (info.direct ? '' : `#${info.name}`) : t && name === 'telegram' ? info.name : skin.subtitle(info));
    write.label({ direct: info.direct, label, inThread });

    const shown = rows();
    const all = inThread ? [] : messages(name, chat, '*');
    let before = null;
    const props = new Map();
    for (const m of shown) {
      const first = !before || before.from.id !== m.from.id || m.at - before.at > GROUP_MS || Boolean(m.replyTo) || Boolean(m.private);
      props.set(m, { first, replies: inThread || thread ? [] : all.filter((r) => r.thread === m.id), isRoot: inThread && m.id === thread });
      before = m;
    }
    const quoted = (id) => shown.find((m) => m.id === id) ?? messages(name, chat, '*').find((m) => m.id === id);
    keyed(list, shown, (m) => m.id, (m) => makeMessage(name, m, write), (li, m) => {
      const p = props.get(m);
      const was = kept.get(li);
      const replies = p.replies.length ? `${p.replies.length}/${p.replies.at(-1).at}` : '';
      if (was && was.m === m && was.first === p.first && was.replies === replies) return;
      kept.set(li, { m, first: p.first, replies });
      li.update(m, { ...p, quoted: m.replyTo ? quoted(m.replyTo) : null });
    });
    list.classList.toggle('empty', shown.length === 0);
    settle();
    showTyping(info, chat, thread);
    if (atEnd) toEnd();
  }

  // The indicator lapses when its time is over, without any news from the server.
  function showTyping(info, chat, thread) {
    clearTimeout(timer);
    const show = typing(name, chat, thread);
    el.classList.toggle('is-typing', Boolean(show));
    setText(words, show ? skin.status(show, { direct: info.direct, bot: platformSetup(name).bot }) : '');
    if (show) timer = setTimeout(update, Math.max(30, show.end - now() + 20));
  }

  return { el, update };
}
