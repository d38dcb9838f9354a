// What the platforms show, as the server told it.

import { changed } from '../lib/bus.js';

const KEPT_MESSAGES = 1500;
const KEPT_CALLS = 500;
const KEPT_SHOWS = 80;

/** setup is what does not change; main.js fills it. */
export const setup = {};

/** bot is the bot's state and the knobs. */
export let bot = { up: false, starts: 0 };

/** ready is true once everything there was has come. */
export let ready = false;

let offset = 0; // the server's clock less ours

/** now is the server's clock, in milliseconds. */
export const now = () => Date.now() + offset;

const platforms = new Map();

/** platform is all that is known of one. */
export function platform(name) {
  if (!platforms.has(name)) {
    platforms.set(name, { name, chats: new Map(), messages: new Map(), shows: new Map(), calls: new Map(), faults: [] });
  }
  return platforms.get(name);
}

const place = (x) => `${x.chat}/${x.thread ?? ''}`;

const mergers = {
  chat: (p, c) => p.chats.set(c.id, c),
  message(p, m, key) {
    p.messages.set(key, m);
    trim(p.messages, KEPT_MESSAGES);
  },
  show(p, x, key) {
    if (!p.shows.has(place(x))) p.shows.set(place(x), new Map());
    const list = p.shows.get(place(x));
    list.set(key, x);
    trim(list, KEPT_SHOWS);
  },
  call(p, c, key) {
    p.calls.set(key, c);
    trim(p.calls, KEPT_CALLS);
  },
  faults(p, f) {
    p.faults = f.faults;
  },
};

function trim(map, limit) {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
}

/** merge takes a message of the stream. Everything has a key: the same thing again replaces itself. */
export function merge({ now: theirs, whole, items }) {
  offset = theirs - Date.now();
  for (const { key, kind, data } of items) {
    if (kind === 'bot') {
      bot = data;
      changed('bot');
      continue;
    }
    mergers[kind](platform(data.platform), data, key);
    changed(data.platform);
  }
  if (whole && !ready) {
    ready = true;
    changed('ready');
  }
}

/** everything lists the messages of a chat, deleted ones too, oldest first; thread "*" means all threads. */
export function everything(name, chat, thread = '*') {
  const list = [...platform(name).messages.values()].filter((m) => m.chat === chat && (thread === '*' || (m.thread ?? '') === thread));
  return list.sort((a, b) => a.at - b.at || compare(a.id, b.id));
}

/** messages lists what stands. */
export const messages = (name, chat, thread) => everything(name, chat, thread).filter((m) => !m.deleted);

function compare(a, b) {
  return a.length - b.length || (a < b ? -1 : Number(a > b));
}

/** shows lists when the indicator showed in a place, oldest first. */
export function shows(name, chat, thread = '') {
  return [...platform(name).shows.get(`${chat}/${thread}`)?.values() ?? []].sort((a, b) => a.start - b.start);
}

/** typing is the interval that shows now, or undefined. */
export const typing = (name, chat, thread) => shows(name, chat, thread).find((x) => x.end > now() && x.start <= now() + 50);

/** platformSetup is what does not change of a platform. */
export const platformSetup = (name) => setup.platforms.find((p) => p.name === name);

/** person finds one by id. */
export const person = (name, id) => platformSetup(name).people.find((p) => p.id === id) ?? { id, name: id };

/** chatKey is adapters.Chat.Key. */
export function chatKey(name, chat, thread = '') {
  return [name, encodeURIComponent(chat), ...(thread ? [encodeURIComponent(thread)] : [])].join('/');
}
