// Plays a prepared script in one or all panes: it writes as the person and presses the buttons.

import { changed, on } from '../lib/bus.js';
import { post } from '../net/api.js';
import { bot, messages, now, platform, platformSetup, setup, typing } from '../model/world.js';
import { goTo } from '../places.js';
import { stepsOf } from './steps.js';

const LIMIT_MS = 120_000; // for what a step waits for
const QUIET_MS = 1500; // nothing types and nothing changes for that long: it has ended

/** playing is what plays now: {demo, panes: Map name → {step, of, caption, done}}; null = nothing. */
export let playing = null;

class Stopped extends Error {}

/** stopDemo ends what plays. The chats stay as they are. */
export function stopDemo() {
  playing?.abort.abort();
  playing = null;
  changed('demo');
}

/** playDemo plays a demonstration in the named panes. */
export async function playDemo(demo, names) {
  stopDemo();
  const mine = { demo, panes: new Map(), abort: new AbortController() };
  playing = mine;
  changed('demo');
  await Promise.all(names.map((name) => inPane(mine, name)));
}

async function inPane(play, name) {
  const steps = stepsOf(play.demo);
  const state = { step: 0, of: steps.length, caption: '', done: false };
  play.panes.set(name, state);
  const direct = [...platform(name).chats.values()].find((c) => c.direct);
  goTo(name, { chat: direct.id });
  const act = { name, chat: direct.id, demo: play.demo, started: now(), said: '', signal: play.abort.signal };
  try {
    for (const step of steps) {
      state.step += 1;
      // A pause lets people see what a step did before the next one; the caption announces it.
      if (step.when || step.press) await ready(act, step);
      if (step.caption) state.caption = step.caption;
      changed('demo');
      if (step.pause) await pause(act, step.pause);
      await run(act, step);
    }
  } catch (e) {
    if (!(e instanceof Stopped)) state.caption = `It stopped here: ${e.message}`;
  }
  state.done = true;
  changed('demo');
}

async function run(act, step) {
  const base = { platform: act.name, chat: act.chat };
  if (step.say) act.said = (await post('say', { ...base, text: act.demo.try }))?.id;
  else if (step.edit) await post('edit', { ...base, message: act.said, text: step.edit });
  else if (step.fault) await post('fault', { platform: act.name, fault: step.fault });
  else if (step.beat) await post('heartbeat', base);
  else if (step.kill) await killOnce(act, step.kill);
  else if (step.press) await press(act, step);
  else if (step.ended) await until(act, 'the end', () => finished(act, step), QUIET_MS);
}

const fromBot = (act) => messages(act.name, act.chat, '').filter((m) => m.from.id === platformSetup(act.name).bot.id && (m.at >= act.started - 200 || m.editedAt >= act.started));

function button(act, text) {
  for (const m of fromBot(act).reverse()) for (const row of m.buttons ?? []) for (const b of row) if (b.text === text) return { m, b };
  return null;
}

// What a step needs to begin: what it presses, and what the bot must have said.
async function ready(act, step) {
  const there = () => (!step.when || fromBot(act).some((m) => step.when.test(m.text))) && (!step.press || button(act, step.press));
  if (!step.optional) return until(act, step.press ? `the button ${step.press}` : 'the bot', there);
  return until(act, 'the end', () => there() || finished(act, {}), QUIET_MS);
}

async function press(act, step) {
  const found = button(act, step.press);
  if (!found) return; // it went on by itself
  await post('press', { platform: act.name, chat: act.chat, message: found.m.id, data: found.b.data });
}

// All panes share one bot: it is killed once, when the first of them is ready.
let killed = null;
async function killOnce(act, seconds) {
  if (!killed) killed = post('kill', { seconds }).finally(() => setTimeout(() => { killed = null; }, 10_000));
  await killed;
  await until(act, 'the bot', () => bot.up);
}

function finished(act, { silent }) {
  const list = fromBot(act);
  const busy = typing(act.name, act.chat, '') || list.some((m) => (m.buttons ?? []).flat().some((b) => b.text === 'Stop'));
  return !busy && now() - act.started > 3000 && (silent || list.length > 0);
}

/** until waits for a condition, and that it holds for a while. */
function until(act, what, holds, quiet = 0) {
  return new Promise((resolve, reject) => {
    let timer = 0;
    let state = '';
    const end = (f, value) => {
      clearTimeout(timer);
      clearTimeout(limit);
      clearInterval(tick);
      off();
      f(value);
    };
    const look = () => {
      const next = holds() ? JSON.stringify(fromBot(act).map((m) => [m.id, m.edits, m.buttons])) : '';
      if (next === state && next) return;
      state = next;
      clearTimeout(timer);
      if (state) timer = setTimeout(() => end(resolve), quiet);
    };
    const limit = setTimeout(() => end(reject, new Error(`${what} did not come`)), LIMIT_MS);
    const tick = setInterval(look, 400); // indicators lapse without news
    const off = on(act.name, look);
    act.signal.addEventListener('abort', () => end(reject, new Stopped()), { once: true });
    look();
  });
}

const pause = (act, ms) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  act.signal.addEventListener('abort', () => { clearTimeout(timer); reject(new Stopped()); }, { once: true });
});

/** allPanes are the names of all. */
export const allPanes = () => setup.platforms.map((p) => p.name);
