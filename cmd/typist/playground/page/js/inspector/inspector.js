// The inspector: what the chat of the focused pane shows in time, calls, trace and tree.

import { on } from '../lib/bus.js';
import { h, setText } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { roving } from '../lib/roving.js';
import { platform, setup } from '../model/world.js';
import { loadSession } from '../model/session.js';
import { focused, inspected, inspectedKey } from '../places.js';
import { skins } from '../skin/skins.js';
import { callsView } from './calls.js';
import { timelineView } from './timeline.js';
import { traceView } from './trace.js';
import { treeView } from './tree.js';
import { recordMenu } from './record.js';
import { resizer } from './resizer.js';

const VIEWS = { timeline: ['Timeline', timelineView], calls: ['API calls', callsView], trace: ['Trace', traceView], tree: ['Tree', treeView] };

/** inspector fills the section. */
export function inspector(el) {
  const where = h('p', { class: 'where' });
  const views = Object.entries(VIEWS).map(([id, [title, make]]) => {
    const view = make();
    const tab = h('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': `view-${id}`, text: title, onclick: () => choose(id) });
    const panel = h('div', { role: 'tabpanel', id: `view-${id}`, 'aria-labelledby': `tab-${id}`, class: `view view-${id}`, tabindex: 0 }, view.el);
    return { id, view, tab, panel };
  });
  const tabs = h('div', { class: 'inspector-tabs', role: 'tablist', 'aria-label': 'Inspector' }, views.map((v) => v.tab));
  const record = h('button', { type: 'button', class: 'button small', 'aria-haspopup': 'menu', 'aria-expanded': 'false', onclick: () => recordMenu(record) }, icon('save'), h('span', { text: 'Save' }));
  const fold = h('button', { type: 'button', class: 'button small square', 'aria-expanded': 'true', 'aria-label': 'Fold the inspector', onclick: () => setFolded(el.dataset.folded !== 'true') }, icon('down'));
  const settle = roving(tabs, '[role=tab]', { horizontal: true });
  let chosen = 'timeline';

  function setFolded(on) {
    el.dataset.folded = String(on);
    fold.setAttribute('aria-expanded', String(!on));
    fold.setAttribute('aria-label', on ? 'Unfold the inspector' : 'Fold the inspector');
    fold.replaceChildren(icon(on ? 'up' : 'down'));
  }

  function choose(id) {
    chosen = id;
    setFolded(false);
    for (const v of views) {
      v.tab.setAttribute('aria-selected', String(v.id === id));
      v.panel.hidden = v.id !== id;
    }
    settle();
    if (id === 'tree' && inspectedKey()) loadSession(inspectedKey());
    update();
  }

  function update() {
    if (!focused) return;
    const { chat, thread } = inspected();
    const info = platform(focused).chats.get(chat);
    const place = info ? [info.direct ? 'direct chat' : info.name, thread && (info.threads?.find((t) => t.id === thread)?.name ?? 'thread')].filter(Boolean).join(' › ') : '';
    setText(where, `${skins[focused].title}${place ? `: ${place}` : ''}`);
    views.find((v) => v.id === chosen).view.update();
  }

  el.append(resizer(el), h('header', { class: 'inspector-head' }, tabs, where, h('span', { class: 'spring' }), record, fold), ...views.map((v) => v.panel));
  for (const p of setup.platforms) on(p.name, () => { if (p.name === focused) update(); });
  for (const topic of ['inspected', 'focus', 'session', 'bot', 'ready']) on(topic, update);
  let off = () => {};
  on('inspected', () => {
    off();
    const key = inspectedKey();
    off = on(`runs ${key}`, () => {
      loadSession(key);
      update();
    });
  });
  // A press moves the active leaf without an event of a run: the changed message tells.
  for (const p of setup.platforms) on(p.name, () => { if (p.name === focused && chosen === 'tree') loadSession(inspectedKey()); });
  choose('timeline');
}
