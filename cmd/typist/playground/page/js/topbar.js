// The bar at the top: prepared scripts, knobs, the bot's state, the theme.

import { on } from './lib/bus.js';
import { h, setText } from './lib/dom.js';
import { icon } from './lib/icons.js';
import { popover } from './lib/popover.js';
import { nextTheme, setTheme, theme } from './lib/theme.js';
import { connection } from './net/stream.js';
import { bot, setup } from './model/world.js';
import { demoPanel } from './demo/panel.js';
import { caption } from './demo/caption.js';
import { knobPanel } from './knobs.js';

const THEMES = { auto: { icon: 'auto', label: 'as the system' }, light: { icon: 'sun', label: 'light' }, dark: { icon: 'moon', label: 'dark' } };

function state() {
  if (connection === 'gone') return { text: 'The playground has ended. Start it again and open the address that it prints.', kind: 'bad' };
  if (connection === 'connecting') return { text: 'connecting…', kind: 'wait' };
  if (!bot.up) return { text: bot.problem || 'The bot is down', kind: 'bad' };
  if (bot.problem) return { text: bot.problem, kind: 'bad' };
  return { text: bot.backend === 'demo' ? 'scripted agent' : bot.backend, kind: 'good' };
}

/** topbar fills the bar. */
export function topbar(bar) {
  const light = h('span', { class: 'light' });
  const words = h('span', { class: 'state-words' });
  const demos = h('button', { type: 'button', class: 'button primary', id: 'demos', 'aria-haspopup': 'dialog', 'aria-expanded': 'false', onclick: () => popover(demoPanel(setup.demos), demos) }, icon('play'), h('span', { text: 'Scripts' }));
  const knobs = h('button', { type: 'button', class: 'button', id: 'knobs', 'aria-haspopup': 'dialog', 'aria-expanded': 'false', onclick: () => popover(knobPanel(), knobs) }, icon('knobs'), h('span', { text: 'Knobs' }));
  const look = h('button', { type: 'button', class: 'button square', onclick: () => { setTheme(nextTheme()); showTheme(); } });
  const showTheme = () => {
    const { icon: symbol, label } = THEMES[theme()];
    look.replaceChildren(icon(symbol));
    look.setAttribute('aria-label', `Colours: ${label}`);
    look.title = `Colours: ${label}`;
  };
  bar.append(
    h('h1', { class: 'brand' }, h('img', { src: '/icon.svg', alt: '', width: 22, height: 22 }), 'typist', h('span', { text: 'playground' })),
    h('p', { class: 'state', role: 'status' }, light, words), h('span', { class: 'spring' }), demos, knobs, look);
  const show = () => {
    const { text, kind } = state();
    setText(words, text);
    light.dataset.kind = kind;
  };
  on('bot', show);
  on('connection', show);
  show();
  showTheme();
  caption(document.getElementById('caption'));
}
