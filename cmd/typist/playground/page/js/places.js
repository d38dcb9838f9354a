// Which chat each pane shows, and which pane the inspector looks at.

import { changed } from './lib/bus.js';
import { chatKey, everything, platform, setup } from './model/world.js';
import { follow } from './net/stream.js';
import { loadSession } from './model/session.js';

const KEY = 'typist-places';
const places = new Map(); // platform → {chat, thread, open}: open is Slack's thread pane

/** focused is the name of the pane that the inspector looks at. */
export let focused = '';

/** placeOf is what a pane shows. */
export function placeOf(name) {
  if (!places.has(name)) {
    const direct = [...platform(name).chats.values()].find((c) => c.direct);
    if (!direct) return { chat: '', thread: '', open: '' };
    places.set(name, { chat: direct.id, thread: '', open: '' });
  }
  return places.get(name);
}

/** goTo makes a pane show a chat, and in Slack a thread beside it. */
export function goTo(name, place) {
  places.set(name, { thread: '', open: '', ...place });
  remember();
  changed(`place ${name}`);
  if (name === focused) inspect();
}

/** focusPane makes the inspector look at a pane. */
export function focusPane(name) {
  if (focused === name) return;
  focused = name;
  changed('focus');
  inspect();
}

/** threads: whether a platform has threads beside a chat, rather than as chats of their own. */
export const threadsBeside = (name) => name === 'slack';

/** inspected is the place whose runs and indicator the inspector shows. */
export function inspected(name = focused) {
  const { chat, thread, open } = placeOf(name);
  if (!threadsBeside(name)) return { platform: name, chat, thread };
  if (open) return { platform: name, chat, thread: open };
  if (platform(name).chats.get(chat)?.direct) return { platform: name, chat, thread: '' };
  // In a channel the bot works in threads: the one in which something happened last.
  const last = everything(name, chat).findLast((m) => m.thread || m.text.includes(`@${botName(name)}`));
  return { platform: name, chat, thread: last ? last.thread || last.id : '' };
}

const botName = (name) => setup.platforms.find((p) => p.name === name).bot.username;

let key = '';

/** inspect follows the events of the inspected place, if it is another one than before. */
export function inspect() {
  const { platform: name, chat, thread } = inspected();
  const next = chat ? chatKey(name, chat, thread) : '';
  if (next === key && next) return;
  key = next;
  follow(key);
  loadSession(key);
  changed('inspected');
}

/** inspectedKey is the key of the inspected chat. */
export const inspectedKey = () => key;

function remember() {
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...places]));
  } catch { /* the places are forgotten with a reload */ }
}

/** restorePlaces puts the panes where they were before a reload. */
export function restorePlaces() {
  try {
    for (const [name, place] of JSON.parse(sessionStorage.getItem(KEY) ?? '[]')) places.set(name, place);
  } catch { /* the first chats then */ }
}
