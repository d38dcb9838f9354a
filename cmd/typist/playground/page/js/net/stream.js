// The page's one connection: what the platforms show, and the run events of the inspected chat.
// Both have numbers that only grow: a new connection says the last ones that were seen, and what
// was seen before is dropped (S6). A hidden page holds no connection.

import { changed } from '../lib/bus.js';
import { merge } from '../model/world.js';
import { addLines, lastSeq } from '../model/runs.js';

let source = null;
let rev = 0;
let chat = '';

/** connection is "connecting", "live" or "gone". */
export let connection = 'connecting';

function setConnection(state) {
  if (connection === state) return;
  connection = state;
  document.documentElement.dataset.connection = state;
  changed('connection');
}

function connect() {
  source?.close();
  source = null;
  if (document.hidden) return;
  source = new EventSource(`/api/stream?${new URLSearchParams({ since: rev, chat, after: chat ? lastSeq(chat) : 0 })}`);
  source.addEventListener('open', () => setConnection('live'));
  source.addEventListener('error', (e) => setConnection(e.target.readyState === EventSource.CLOSED ? 'gone' : 'connecting'));
  source.addEventListener('world', (e) => {
    const at = Number(e.lastEventId.split('.')[0]);
    if (at < rev) return; // seen before
    rev = at;
    merge(JSON.parse(e.data));
  });
  source.addEventListener('run', (e) => {
    const { chat: of, lines } = JSON.parse(e.data);
    addLines(of, lines);
  });
}

/** follow asks for the run events of a chat, by its key. */
export function follow(key) {
  if (key === chat && source) return;
  chat = key;
  connect();
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (!source) {
    connect();
  }
});
