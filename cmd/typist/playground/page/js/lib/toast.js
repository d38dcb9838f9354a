// Short notes about what did not work. They are announced.

import { h } from './dom.js';

const KEPT = 3;
const SHOWN_MS = 6000;

/** toast shows a note for some seconds. */
export function toast(text) {
  const box = document.getElementById('toasts');
  const el = h('p', { class: 'toast', text });
  box.append(el);
  while (box.childElementCount > KEPT) box.firstElementChild.remove();
  setTimeout(() => el.remove(), SHOWN_MS);
}
