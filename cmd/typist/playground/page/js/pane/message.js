// One message. All platforms have the same parts; their style sheets arrange them.

import { avatar } from '../lib/avatar.js';
import { h, setText } from '../lib/dom.js';
import { hm, size } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { showMenu } from '../lib/menu.js';
import { sanitized } from '../lib/sanitize.js';
import { toast } from '../lib/toast.js';
import { fileURL, post } from '../net/api.js';
import { person, platformSetup, setup } from '../model/world.js';
import { goTo, placeOf, threadsBeside } from '../places.js';
import { skins } from '../skin/skins.js';

/** makeMessage makes the row of a message; its update method shows another state of it. */
export function makeMessage(name, first, write) {
  const skin = skins[name];
  const you = platformSetup(name).you;
  let m = first;
  const own = m.from.id === you;
  const quote = h('div', { class: 'quote', hidden: true });
  const head = h('div', { class: 'msg-head' }, h('span', { class: 'msg-name', text: m.from.name }),
    m.from.bot && h('span', { class: 'app', text: name === 'telegram' ? 'bot' : 'APP' }), h('time', { class: 'head-time', text: hm(m.at) }));
  const body = h('div', { class: 'rich' });
  const files = h('div', { class: 'files' });
  const edited = h('span', { class: 'edited' });
  const meta = h('div', { class: 'meta' }, edited, h('span', { class: 'silent', hidden: true, title: 'sent without notification' }, icon('mute'), h('span', { class: 'unseen', text: 'silent' })),
    h('span', { class: 'pinged', hidden: true, title: 'notified by name' }, icon('bell'), h('span', { class: 'unseen', text: 'notifies you' })), h('time', { text: hm(m.at) }));
  const note = h('div', { class: 'private', hidden: true }, icon('eye'), h('span', { text: 'Only visible to you' }));
  const keys = h('div', { class: 'keys' });
  const reactions = h('div', { class: 'reactions' });
  const replies = h('button', { type: 'button', class: 'replies', hidden: true, onclick: () => goTo(name, { ...placeOf(name), open: m.id }) });
  const more = h('button', { type: 'button', class: 'more', 'aria-label': 'Actions', 'aria-haspopup': 'menu', 'aria-expanded': 'false', onclick: (e) => { e.stopPropagation(); menu(more); } }, icon('dots'));
  const li = h('li', {
    class: `msg ${own ? 'own' : 'other'}${m.from.bot ? ' from-bot' : ''}`, 'data-id': m.id,
    oncontextmenu: (e) => {
      if (e.target.closest('a')) return;
      e.preventDefault();
      menu(null, { left: e.clientX, right: e.clientX, top: e.clientY, bottom: e.clientY });
    },
    onkeydown: (e) => {
      if (e.target !== li || !(e.key === 'Enter' || e.key === 'ContextMenu')) return;
      e.preventDefault();
      menu(more);
    },
  }, h('span', { class: 'gutter' }, avatar(m.from), h('time', { class: 'gutter-time', 'aria-hidden': 'true', text: hm(m.at) })),
  h('div', { class: 'msg-main' }, h('div', { class: 'bubble' }, quote, head, note, body, files, meta), keys, reactions, replies), more);

  function menu(opener, at) {
    showMenu(opener, [
      { label: skin.reply, icon: 'reply', run: () => (threadsBeside(name) ? goTo(name, { ...placeOf(name), open: m.thread || m.id }) : write.reply(m)) },
      own && { label: 'Edit', icon: 'edit', run: () => write.edit(m) },
      setup.commands.some((c) => c.onMessage) && { label: skin.branch, icon: 'branch', run: () => post('command', { platform: name, chat: m.chat, thread: m.thread ?? '', name: 'branch', target: m.id }) },
      { label: 'Copy text', icon: 'copy', run: () => navigator.clipboard.writeText(m.text).catch((e) => toast(`The text was not copied: ${e.message}`)) },
    ], { label: 'Message actions', at });
  }

  li.update = (next, { first: heads, replies: answers, quoted, isRoot }) => {
    const textChanged = next.html !== li.html;
    m = next;
    li.classList.toggle('first', heads);
    li.classList.toggle('root', Boolean(isRoot));
    li.classList.toggle('pings', Boolean(m.from.bot && m.pings?.includes(you)));
    if (textChanged) {
      li.html = m.html;
      const opened = [...body.querySelectorAll('details')].map((d) => d.open);
      body.replaceChildren(sanitized(m.html));
      body.querySelectorAll('details').forEach((d, i) => { d.open = opened[i] ?? false; });
    }
    body.hidden = !m.html;
    quote.hidden = !m.replyTo;
    if (m.replyTo) {
      quote.replaceChildren(h('span', { class: 'quote-name', text: quoted ? quoted.from.name : 'Deleted message' }), h('span', { class: 'quote-text', text: (quoted?.text ?? '').slice(0, 120) }));
    }
    const mark = m.edits ? skin.edited(m) : '';
    edited.hidden = !mark;
    setText(edited, mark);
    note.hidden = !m.private;
    meta.querySelector('.silent').hidden = !(m.silent && m.from.bot);
    meta.querySelector('.pinged').hidden = !m.pings?.includes(you);
    meta.classList.toggle('plain', !mark && !(m.silent && m.from.bot) && !m.pings?.includes(you));
    showFiles(files, m);
    showKeys(keys, name, m);
    showReactions(reactions, name, m);
    replies.hidden = !answers.length;
    if (answers.length) setText(replies, `${answers.length} ${answers.length === 1 ? 'reply' : 'replies'}`);
  };
  return li;
}

function showFiles(box, m) {
  const key = JSON.stringify(m.files ?? []);
  if (box.dataset.state === key) return;
  box.dataset.state = key;
  box.replaceChildren(...(m.files ?? []).map((f, i) => (f.mime.startsWith('image/')
    ? h('a', { class: 'picture', href: fileURL(m, i), target: '_blank', rel: 'noopener' }, h('img', { src: fileURL(m, i), alt: f.name, loading: 'lazy' }))
    : h('a', { class: 'file', href: fileURL(m, i), download: f.name }, icon('save'), h('span', { class: 'file-name', text: f.name }), h('span', { class: 'file-size', text: size(f.size) })))));
}

function showKeys(box, name, m) {
  const key = JSON.stringify(m.buttons ?? []);
  if (box.dataset.state === key) return;
  const focus = box.contains(document.activeElement) ? document.activeElement.textContent : null;
  box.dataset.state = key;
  box.replaceChildren(...(m.buttons ?? []).map((row) => h('div', { class: 'key-row' }, row.map((b) => h('button', {
    type: 'button', class: `key ${b.style ?? ''}`, 'data-data': b.data, text: b.text, 'aria-label': { '◀': 'Previous version', '▶': 'Next version' }[b.text],
    onclick: () => post('press', { platform: name, chat: m.chat, thread: m.thread ?? '', message: m.id, data: b.data }),
  })))));
  if (focus) [...box.querySelectorAll('button')].find((b) => b.textContent === focus)?.focus();
}

// Slack and the sims name some emoji by words.
const EMOJI = { eyes: '👀', hourglass_flowing_sand: '⏳', hourglass: '⌛', thinking_face: '🤔', writing_hand: '✍️', speech_balloon: '💬' };

function showReactions(box, name, m) {
  const list = Object.entries(m.reactions ?? {});
  const key = JSON.stringify(list);
  if (box.dataset.state === key) return;
  box.dataset.state = key;
  box.replaceChildren(...list.map(([emoji, who]) => h('span', { class: 'reaction', title: who.map((id) => person(name, id).name).join(', ') }, EMOJI[emoji] ?? emoji, h('span', { text: String(who.length) }))));
}
