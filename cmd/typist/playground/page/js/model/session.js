// A chat's session tree, read when something may have changed it.

import { changed } from '../lib/bus.js';
import { get } from '../net/api.js';

const PAUSE_MS = 300;
let wanted = '';
let timer = 0;
let reading = false;

/** session is the tree of the chat that was asked for last. */
export let session = { chat: '', leaf: '', nodes: [], runs: {} };

async function load() {
  if (reading) {
    timer = setTimeout(load, PAUSE_MS);
    return;
  }
  reading = true;
  const chat = wanted;
  try {
    const tree = await get('/api/session', { chat });
    if (chat === wanted && !tree.down) session = { chat, ...tree };
    changed('session');
  } catch { /* the playground has ended */ }
  reading = false;
}

/** loadSession reads the tree of a chat again, soon. */
export function loadSession(chat) {
  if (chat !== wanted) session = { chat, leaf: '', nodes: [], runs: {} };
  wanted = chat;
  clearTimeout(timer);
  if (chat) timer = setTimeout(load, PAUSE_MS);
}
