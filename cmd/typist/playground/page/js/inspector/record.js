// Saves a run: its timeline and progress history as a picture, and all of it as JSON.

import { s } from '../lib/dom.js';
import { hms } from '../lib/format.js';
import { showMenu } from '../lib/menu.js';
import { toast } from '../lib/toast.js';
import { get } from '../net/api.js';
import { bot, platform } from '../model/world.js';
import { inspectedData, stateOf } from './data.js';
import { drawTimeline } from './draw.js';
import { rangeOf, summary } from './timeline.js';

const COLOURS = { ink: '#1d2127', faint: '#5a626d', line: '#e3e6ea', run: '#8b97a8', shown: '#0b7d76', bad: '#d11a2a', paused: '#c9a400', post: '#3457d5', edit: '#7a4fd1', lapse: '#9fb8b6' };
const WIDTH = 1000;
const TIMELINE = 130;
const LINE = 17;
const LINES = 14; // of one state
const MAX_STATES = 40;

function save(name, blob) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

// gather reads what belongs to the newest run: calls, and every state of its messages.
async function gather() {
  const data = inspectedData();
  const run = data.runs.at(-1);
  if (!run) throw new Error('there is no run in this chat yet');
  const range = rangeOf(run, data.now);
  const within = (at) => at >= range.from && at <= range.to;
  const mine = data.posts.filter((m) => within(m.at) || within(m.editedAt ?? 0));
  const messages = await Promise.all(mine.map((m) => get('/api/message', { platform: m.platform, chat: m.chat, id: m.id })));
  const states = messages.flatMap((m) => {
    const times = [m.at, ...m.history.map((v) => v.at)]; // a state holds from the edit before it
    return [...m.history.map((v, i) => ({ at: times[i], id: m.id, text: v.text })), { at: times[m.history.length], id: m.id, text: m.text }];
  }).filter((x) => within(x.at)).sort((a, b) => a.at - b.at);
  const calls = [...platform(data.platform).calls.values()].filter((c) => within(c.at));
  return { data, run, range, messages, states, calls };
}

const stem = (g) => `typist-${g.data.platform}-${new Date(g.run.started).toISOString().slice(0, 19).replaceAll(':', '')}`;

async function saveJSON() {
  const g = await gather();
  const { byId, cover, ...run } = g.run;
  const record = {
    made: new Date().toISOString(), platform: g.data.platform, chat: g.data.chat, thread: g.data.thread, settings: bot,
    run: { ...run, state: stateOf(g.run) }, coverage: cover, summary: summary(g.run),
    indicator: g.data.shows.filter((x) => x.end >= g.range.from && x.start <= g.range.to), states: g.states, messages: g.messages, calls: g.calls,
  };
  save(`${stem(g)}.json`, new Blob([JSON.stringify(record, null, 2)], { type: 'application/json' }));
}

function picture(g) {
  const root = s('svg', { xmlns: 'http://www.w3.org/2000/svg', width: WIDTH });
  const font = { 'font-family': 'system-ui, sans-serif' };
  const out = [s('text', { x: 20, y: 30, 'font-size': 16, 'font-weight': 600, fill: COLOURS.ink, ...font }, `typist · ${g.data.platform} · ${new Date(g.run.started).toLocaleString()}`),
    s('text', { x: 20, y: 52, 'font-size': 12, fill: COLOURS.faint, ...font }, summary(g.run))];
  const drawing = s('svg', { x: 10, y: 66 });
  drawTimeline(drawing, g.data, g.range, WIDTH - 20, TIMELINE, COLOURS);
  out.push(drawing);
  let y = 66 + TIMELINE + 34;
  out.push(s('text', { x: 20, y, 'font-size': 13, 'font-weight': 600, fill: COLOURS.ink, ...font }, 'What the chat showed'));
  y += 12;
  for (const state of g.states.slice(-MAX_STATES)) {
    const all = state.text.split('\n');
    const lines = all.length > LINES ? [...all.slice(0, LINES - 1), '…'] : all;
    const height = lines.length * LINE + 12;
    out.push(s('rect', { x: 130, y, width: WIDTH - 150, height, rx: 8, fill: '#f3f5f7' }),
      s('text', { x: 20, y: y + 19, 'font-size': 12, fill: COLOURS.faint, ...font }, `+${((state.at - g.run.started) / 1000).toFixed(1)} s`));
    lines.forEach((line, i) => out.push(s('text', { x: 142, y: y + 19 + i * LINE, 'font-size': 13, fill: COLOURS.ink, 'xml:space': 'preserve', ...font }, line.slice(0, 130))));
    y += height + 8;
  }
  out.push(s('text', { x: 20, y: y + 14, 'font-size': 11, fill: COLOURS.faint, ...font }, `saved ${hms(Date.now())}`));
  const height = y + 30;
  root.setAttribute('height', height);
  root.setAttribute('viewBox', `0 0 ${WIDTH} ${height}`);
  root.append(s('rect', { width: WIDTH, height, fill: '#ffffff' }), ...out);
  return { blob: new Blob([new XMLSerializer().serializeToString(root)], { type: 'image/svg+xml' }), height };
}

async function saveSVG() {
  const g = await gather();
  save(`${stem(g)}.svg`, picture(g).blob);
}

async function savePNG() {
  const g = await gather();
  const { blob, height } = picture(g);
  const url = URL.createObjectURL(blob);
  const image = new Image(WIDTH, height);
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  const scale = Math.min(2, 8000 / height);
  canvas.width = WIDTH * scale;
  canvas.height = height * scale;
  const ctx = canvas.getContext('2d');
  ctx.scale(scale, scale);
  ctx.drawImage(image, 0, 0, WIDTH, height);
  URL.revokeObjectURL(url);
  canvas.toBlob((png) => save(`${stem(g)}.png`, png), 'image/png');
}

const guarded = (f) => () => f().catch((e) => toast(`Nothing was saved: ${e.message}`));

/** recordMenu offers the forms. */
export function recordMenu(opener) {
  showMenu(opener, [
    { label: 'Timeline and progress as SVG', icon: 'save', run: guarded(saveSVG) },
    { label: 'Timeline and progress as PNG', icon: 'save', run: guarded(savePNG) },
    { label: 'Everything as JSON', icon: 'save', run: guarded(saveJSON) },
  ], { label: 'Save the newest run' });
}
