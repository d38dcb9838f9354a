// The line that says what a prepared script does and what to watch.

import { on } from '../lib/bus.js';
import { h, keyed, setText } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { skins } from '../skin/skins.js';
import { playing, stopDemo } from './player.js';

/** caption fills the line. */
export function caption(el) {
  const title = h('b');
  const words = h('span', { class: 'caption-words', role: 'status' });
  const marks = h('span', { class: 'caption-panes' });
  el.append(title, words, marks, h('button', { type: 'button', class: 'bare', 'aria-label': 'End the script', onclick: stopDemo }, icon('close')));
  on('demo', () => {
    el.hidden = !playing;
    document.documentElement.dataset.demo = playing ? ([...playing.panes.values()].every((p) => p.done) ? 'done' : 'playing') : '';
    if (!playing) return;
    setText(title, playing.demo.title);
    const panes = [...playing.panes];
    // The pane that is furthest speaks; its caption stays once all are done.
    const lead = panes.map(([, p]) => p).reduce((a, b) => (b.step > a.step ? b : a), { step: -1, caption: '' });
    setText(words, lead.caption);
    keyed(marks, panes, ([name]) => name, () => h('span', { class: 'mark' }),
      (mark, [name, p]) => setText(mark, `${skins[name].title} ${p.done ? '✓' : `${p.step}/${p.of}`}`));
  });
}
