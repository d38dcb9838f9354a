// The session tree: every branch of the conversation, and which one is active.

import { h } from '../lib/dom.js';
import { hms } from '../lib/format.js';
import { session } from '../model/session.js';

const WHO = { user: 'person', assistant: 'agent', tool: 'tools', root: '/new' };

/** treeView makes the view. */
export function treeView() {
  const el = h('div', { class: 'tree' });
  let shown = '';

  function rows(children, parent, level, alone) {
    const kids = children.get(parent) ?? [];
    return kids.map((n, i) => {
      const below = children.get(n.id) ?? [];
      const several = kids.length > 1;
      const item = h('li', { role: 'treeitem', 'aria-level': level, 'aria-expanded': below.length ? 'true' : undefined, 'aria-selected': String(n.id === session.leaf), class: `${n.active ? 'active' : ''} ${n.id === session.leaf ? 'leaf' : ''}` },
        h('div', { class: `node node-${n.role}` }, h('span', { class: 'node-who', text: WHO[n.role] ?? n.role }), h('span', { class: 'node-text', text: n.text || '(empty)' }),
          several && h('span', { class: 'node-version', text: `${i + 1}/${kids.length}` }), n.incomplete && h('span', { class: 'node-version', text: 'cut' }), h('time', { class: 'num', text: hms(n.at).slice(0, 8) })));
      if (below.length) item.append(h('ul', { role: 'group', class: below.length > 1 ? 'fork' : 'line' }, rows(children, n.id, level + 1, below.length === 1)));
      return item;
    });
  }

  function update() {
    const state = JSON.stringify([session.leaf, session.nodes.map((n) => [n.id, n.active])]);
    if (state === shown) return;
    shown = state;
    const known = new Set(session.nodes.map((n) => n.id));
    const children = new Map();
    for (const n of session.nodes) {
      const parent = known.has(n.parent) ? n.parent : '';
      if (!children.has(parent)) children.set(parent, []);
      children.get(parent).push(n);
    }
    if (!session.nodes.length) {
      el.replaceChildren(h('p', { class: 'summary', text: 'No conversation in this chat yet.' }));
      return;
    }
    el.replaceChildren(h('ul', { role: 'tree', 'aria-label': 'Session tree', class: (children.get('') ?? []).length > 1 ? 'fork' : 'line' }, rows(children, '', 1, true)));
  }
  return { el, update };
}
