// Avatars: a letter on a colour that belongs to the person; the bot has its three dots.

import { h, s } from './dom.js';

const COLOURS = 6;

function hue(id) {
  let n = 0;
  for (const c of id) n = (n * 31 + c.charCodeAt(0)) % 997;
  return n % COLOURS;
}

/** avatar makes one for a person or a chat. */
export function avatar(who) {
  if (who.bot) {
    return h('span', { class: 'avatar avatar-bot', 'aria-hidden': 'true' },
      s('svg', { viewBox: '0 0 32 32' },
        s('circle', { cx: 9, cy: 16, r: 3 }), s('circle', { cx: 16, cy: 16, r: 3, opacity: '.75' }), s('circle', { cx: 23, cy: 16, r: 3, opacity: '.5' })));
  }
  return h('span', { class: `avatar avatar-${hue(who.id)}`, 'aria-hidden': 'true', text: [...who.name][0]?.toUpperCase() ?? '?' });
}
