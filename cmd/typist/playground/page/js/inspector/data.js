// What the inspector's views draw: the focused place's runs, indicator and messages.

import { coverage } from '../model/coverage.js';
import { runsOf } from '../model/runs.js';
import { session } from '../model/session.js';
import { everything, now, platform as platformOf, platformSetup, shows } from '../model/world.js';
import { inspected, inspectedKey } from '../places.js';

/** inspectedData gathers it. The times of a run are the store's where it has them. */
export function inspectedData() {
  const place = inspected();
  const { platform, chat, thread } = place;
  const bot = platformSetup(platform).bot.id;
  const at = now();
  const list = shows(platform, chat, thread);
  const posts = everything(platform, chat, thread).filter((m) => m.from.id === bot && !m.private);
  // An edit names no thread on some platforms: it is drawn for all threads of its chat.
  const calls = [...platformOf(platform).calls.values()].filter((c) => c.chat === chat && (!c.thread || c.thread === thread));
  const timed = runsOf(inspectedKey()).map((run) => {
    const stored = session.runs[run.id];
    return { ...run, started: stored?.started || run.started, ended: run.ended && (stored?.ended || run.ended), finished: run.ended, state: stored?.state };
  });
  const runs = timed.map((run, i) => ({ ...run, cover: coverage(run, list, posts, at, timed[i + 1]?.started) }));
  return { ...place, runs, shows: list, posts, calls, now: at };
}

const STATES = { done: 'done', silent: 'silent', stopped: 'stopped', interrupted: 'interrupted', failed: 'failed', success: 'done', cancelled: 'stopped', interrupt: 'interrupted' };

/** stateOf is a run's state in one word. */
export const stateOf = (run) => (run.ended ? STATES[run.state] ?? STATES[run.outcome] ?? run.outcome : 'running');
