// The edge with which the inspector is made higher and lower.

import { h } from '../lib/dom.js';

const MIN = 120;
const STEP = 24;

/** resizer is the edge of an element. */
export function resizer(el) {
  const max = () => innerHeight - 220;
  const set = (height) => {
    const px = Math.round(Math.min(Math.max(height, MIN), max()));
    el.style.setProperty('--height', `${px}px`);
    edge.setAttribute('aria-valuenow', String(px));
  };
  const edge = h('div', {
    class: 'resizer', role: 'separator', tabindex: 0, 'aria-orientation': 'horizontal', 'aria-label': 'Height of the inspector', 'aria-valuemin': MIN, 'aria-valuemax': 900, 'aria-valuenow': 280,
    onkeydown: (e) => {
      const by = { ArrowUp: STEP, ArrowDown: -STEP }[e.key];
      if (!by) return;
      e.preventDefault();
      set(el.offsetHeight + by);
    },
    onpointerdown: (e) => {
      edge.setPointerCapture(e.pointerId);
      const bottom = el.getBoundingClientRect().bottom;
      const move = (m) => set(bottom - m.clientY);
      edge.addEventListener('pointermove', move);
      edge.addEventListener('pointerup', () => edge.removeEventListener('pointermove', move), { once: true });
    },
  });
  return edge;
}
