// Where one writes: text, a mention, a reply, an edit, files, commands.

import { h, setText } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { toast } from '../lib/toast.js';
import { post } from '../net/api.js';
import { messages, person, platform, platformSetup, setup } from '../model/world.js';
import { goTo, placeOf, threadsBeside } from '../places.js';
import { skins } from '../skin/skins.js';
import { completion } from './completion.js';
import { readFiles } from './attach.js';

const MAX_HEIGHT = 140;

/** composer makes one; place() says where it writes, say is called after something was sent. */
export function composer(name, { place, inThread, say }) {
  const skin = skins[name];
  const bot = platformSetup(name).bot;
  let replyTo = null;
  let editing = null;
  let files = [];
  let mention = true;
  let writer = platformSetup(name).you;

  const text = h('textarea', { rows: 1, class: 'write', 'aria-label': 'Message', 'aria-autocomplete': 'list', enterkeyhint: 'send' });
  const at = h('button', { type: 'button', class: 'at', 'aria-pressed': 'true', onclick: () => setMention(!mention) }, icon('at'), h('span', { text: `mention ${bot.name}` }));
  const who = h('select', { class: 'who', 'aria-label': 'Write as', onchange: () => { writer = who.value; } });
  const picker = h('input', { type: 'file', multiple: true, hidden: true, tabindex: -1, 'aria-hidden': 'true', onchange: pick });
  const clip = h('button', { type: 'button', class: 'bare tool', 'aria-label': 'Attach files', title: 'Attach files', onclick: () => picker.click() }, icon('clip'));
  const menu = h('button', { type: 'button', class: 'bare tool', 'aria-label': 'Commands', title: 'Commands', onclick: () => { text.value = '/'; text.focus(); input(); } }, icon('slash'));
  const send = h('button', { type: 'submit', class: 'send', 'aria-label': 'Send' }, icon('send'));
  const banner = h('div', { class: 'banner', hidden: true });
  const as = h('div', { class: 'compose-as' }, h('span', { 'aria-hidden': 'true', text: 'as' }), who, at);
  const chips = h('div', { class: 'chips', hidden: true });
  const el = h('form', { class: 'composer', onsubmit: (e) => { e.preventDefault(); submit(); } }, banner, chips,
    as, h('div', { class: 'compose-row' }, h('div', { class: 'compose-tools' }, clip, menu), text, send), picker);
  const complete = completion(text, (value) => { text.value = value; input(); });
  el.append(complete.el);

  function setMention(on) {
    mention = on;
    at.setAttribute('aria-pressed', String(on));
  }

  function input() {
    text.style.height = 'auto';
    if (text.scrollHeight) text.style.height = `${Math.min(text.scrollHeight, MAX_HEIGHT)}px`; // 0 while it does not show
    complete.update();
    el.classList.toggle('filled', Boolean(text.value.trim() || files.length));
  }

  async function pick() {
    try {
      files = files.concat(await readFiles(picker.files));
    } catch (e) {
      toast(e.message);
    }
    picker.value = '';
    showChips();
    text.focus();
  }

  function showChips() {
    chips.hidden = !files.length;
    chips.replaceChildren(...files.map((f, i) => h('span', { class: 'chip' }, f.name, h('button', { type: 'button', class: 'bare', 'aria-label': `Remove ${f.name}`, onclick: () => { files.splice(i, 1); showChips(); } }, icon('close')))));
    input();
  }

  function showBanner() {
    const m = editing ?? replyTo;
    banner.hidden = !m;
    if (!m) return;
    banner.replaceChildren(icon(editing ? 'edit' : 'reply'), h('span', { class: 'banner-text' }, h('b', { text: editing ? 'Edit message' : `Reply to ${m.from.name}` }), h('span', { text: m.text.slice(0, 100) })),
      h('button', { type: 'button', class: 'bare', 'aria-label': 'Cancel', onclick: cancel }, icon('close')));
  }

  function cancel() {
    if (editing) text.value = '';
    editing = replyTo = null;
    showBanner();
    input();
    text.focus();
  }

  async function submit() {
    const value = text.value.trim();
    if (!value && !files.length) return;
    const { chat, thread = '' } = place();
    const base = { platform: name, chat, thread, person: writer };
    const done = await (editing ? post('edit', { ...base, message: editing.id, text: value, person: editing.from.id }) : command(base, value) ?? speak(base, value));
    if (!done) return;
    text.value = '';
    files = [];
    editing = replyTo = null;
    showBanner();
    showChips();
    say();
  }

  // A command of the bot goes the platform's way; everything else is text.
  function command(base, value) {
    const hit = /^\/(\w+)(?:\s+(.*))?$/s.exec(value);
    const known = hit && (setup.commands.some((c) => c.name === hit[1].toLowerCase()) || hit[1] === 'typist');
    if (!known || files.length) return null;
    const [, cmd, args = ''] = hit;
    if (threadsBeside(name) && base.thread) { // Slack has no slash commands in threads
      return post('say', { ...base, text: `${cmd} ${args}`.trim(), mention: true });
    }
    return post('command', { ...base, name: cmd.toLowerCase(), args, target: name === 'telegram' ? replyTo?.id ?? '' : '' });
  }

  async function speak(base, value) {
    const group = !platform(name).chats.get(base.chat).direct;
    const sent = await post('say', { ...base, text: value, mention: group && mention, replyTo: replyTo?.id ?? '', files });
    if (sent && threadsBeside(name) && group && mention && !base.thread) goTo(name, { ...placeOf(name), open: sent.id });
    return sent;
  }

  function lastOwn() {
    const { chat, thread } = place();
    return messages(name, chat, thread).findLast((m) => m.from.id === writer);
  }

  text.addEventListener('input', input);
  text.addEventListener('keydown', (e) => {
    if (complete.key(e)) return;
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      submit();
    } else if (e.key === 'Escape' && (editing || replyTo)) {
      cancel();
    } else if (e.key === 'ArrowUp' && !text.value && lastOwn()) {
      e.preventDefault();
      api.edit(lastOwn());
    }
  });

  const api = {
    el,
    reply(m) {
      editing = null;
      replyTo = m;
      showBanner();
      text.focus();
    },
    edit(m) {
      replyTo = null;
      editing = m;
      text.value = m.text;
      showBanner();
      input();
      text.focus();
    },
    /** label says what the place is called. */
    label(where) {
      text.placeholder = skin.placeholder(where);
      text.setAttribute('aria-label', inThread ? 'Reply in the thread' : `Message in ${where.label}`);
      as.hidden = where.direct;
    },
    /** moved says that it writes elsewhere now. */
    moved() {
      editing = replyTo = null;
      showBanner();
      const info = platform(name).chats.get(place().chat);
      writer = platformSetup(name).you;
      who.replaceChildren(...info.members.filter((id) => id !== bot.id).map((id) => h('option', { value: id, text: person(name, id).name })));
      who.value = writer;
    },
  };
  setText(chips, '');
  return api;
}
