// Runs of the agent, put together from their events. Everything merges by id, never by order.

import { changed } from '../lib/bus.js';

const KEPT_RUNS = 40; // per chat
const chats = new Map(); // key → {last, runs: Map}

function chatOf(key) {
  if (!chats.has(key)) chats.set(key, { last: 0, runs: new Map() });
  return chats.get(key);
}

/** lastSeq is the number of the last event of a chat that was seen. */
export const lastSeq = (key) => chats.get(key)?.last ?? 0;

/** runsOf lists a chat's runs, oldest first. */
export const runsOf = (key) => [...chats.get(key)?.runs.values() ?? []];

/** addLines takes events of a chat; those that were seen are dropped. */
export function addLines(key, lines) {
  const chat = chatOf(key);
  for (const line of lines) {
    if (line.seq <= chat.last) continue;
    chat.last = line.seq;
    let run = chat.runs.get(line.runId);
    if (!run) {
      run = newRun(line);
      chat.runs.set(line.runId, run);
      for (const id of chat.runs.keys()) {
        if (chat.runs.size <= KEPT_RUNS) break;
        chat.runs.delete(id);
      }
    }
    run.lines += 1;
    apply(run, line.event, line.at);
  }
  changed(`runs ${key}`);
}

const newRun = (line) => ({
  id: line.runId, started: line.at, ended: 0, outcome: '', failure: null, entries: [], byId: new Map(), waits: [], lines: 0, firstSeq: line.seq,
});

const newEntry = (kind, id, area, at) => ({ kind, id, area, at, ended: 0, text: '', open: true });

// entry finds what an id stands for in a run, or begins it: an event can come without its start.
function entry(run, kind, id, area, at) {
  const key = `${kind} ${area} ${id}`;
  let e = run.byId.get(key);
  if (!e) {
    e = newEntry(kind, id, area, at);
    run.byId.set(key, e);
    run.entries.push(e);
  }
  return e;
}

function end(e, at, more = {}) {
  e.ended = at;
  e.open = false;
  Object.assign(e, more);
}

const handlers = {
  RUN_STARTED(run, ev, at) { run.started = Math.min(run.started, at); },
  RUN_FINISHED(run, ev, at) { finish(run, at, ev.outcome, null); },
  RUN_ERROR(run, ev, at) { finish(run, at, 'failed', ev.failure); },
  MODEL_REQUEST(run, ev, at) { entry(run, 'request', ev.id, area(ev), at).open = false; },
  STEP_STARTED(run, ev, at) { entry(run, 'step', ev.name, area(ev), at).name = ev.name; },
  STEP_FINISHED(run, ev, at) { end(entry(run, 'step', ev.name, area(ev), at), at); },
  REASONING_MESSAGE_START(run, ev, at) { entry(run, 'thinking', ev.id, area(ev), at); },
  REASONING_MESSAGE_CONTENT(run, ev, at) { entry(run, 'thinking', ev.id, area(ev), at).text += ev.delta; },
  REASONING_MESSAGE_END(run, ev, at) { end(entry(run, 'thinking', ev.id, area(ev), at), at, { incomplete: ev.incomplete }); },
  TEXT_MESSAGE_START(run, ev, at) { entry(run, 'text', ev.id, area(ev), at); },
  TEXT_MESSAGE_CONTENT(run, ev, at) { entry(run, 'text', ev.id, area(ev), at).text += ev.delta; },
  TEXT_MESSAGE_END(run, ev, at) { end(entry(run, 'text', ev.id, area(ev), at), at, { incomplete: ev.incomplete }); },
  TOOL_CALL_START(run, ev, at) { Object.assign(entry(run, 'tool', ev.id, area(ev), at), { name: ev.title || ev.name, args: '' }); },
  TOOL_CALL_ARGS(run, ev, at) {
    const e = entry(run, 'tool', ev.id, area(ev), at);
    e.args = (e.args ?? '') + ev.delta;
  },
  TOOL_CALL_END(run, ev, at) { entry(run, 'tool', ev.id, area(ev), at).executes = at; },
  TOOL_CALL_RESULT(run, ev, at) {
    end(entry(run, 'tool', ev.id, area(ev), at), at, { text: ev.content, isError: ev.isError, incomplete: ev.incomplete });
  },
  SUBAGENT_STARTED(run, ev, at) {
    Object.assign(entry(run, 'subagent', ev.subagent, ev.parent ?? '', at), { name: ev.name, own: ev.subagent });
    run.byId.set(`area ${ev.subagent}`, entry(run, 'subagent', ev.subagent, ev.parent ?? '', at));
  },
  SUBAGENT_FINISHED(run, ev, at) {
    const e = run.byId.get(`area ${ev.subagent}`);
    if (e) end(e, at, { isError: ev.isError, incomplete: ev.incomplete });
  },
  APPROVAL_REQUESTED(run, ev, at) {
    Object.assign(entry(run, 'approval', ev.approval.id, area(ev), at), { name: ev.approval.title, options: ev.approval.options });
    run.waits.push({ id: ev.approval.id, from: at, to: 0 });
  },
  APPROVAL_RESOLVED(run, ev, at) {
    const e = entry(run, 'approval', ev.id, area(ev), at);
    end(e, at, { text: e.options?.find((o) => o.id === ev.option)?.name || ev.option || 'nobody decided' });
    const wait = run.waits.find((w) => w.id === ev.id);
    if (wait) wait.to = at;
  },
  FILE_PRODUCED(run, ev, at) { end(entry(run, 'file', `${ev.name} ${run.entries.length}`, area(ev), at), at, { name: ev.name }); },
};

const area = (ev) => ev.subagent ?? '';

function finish(run, at, outcome, failure) {
  Object.assign(run, { ended: at, outcome, failure });
  for (const w of run.waits) w.to ||= at;
}

function apply(run, ev, at) {
  handlers[ev.type]?.(run, ev, at);
}

/** previewOf is the short form of a tool call (P4): its description, else its first argument. */
export function previewOf(args) {
  let parsed;
  try {
    parsed = JSON.parse(args);
  } catch {
    return '';
  }
  if (!parsed || typeof parsed !== 'object') return '';
  const value = typeof parsed.description === 'string' ? parsed.description : Object.values(parsed)[0];
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/\s+/g, ' ').slice(0, 80);
}
