// The icons: strokes on a 20 by 20 grid.

import { s } from './dom.js';

const PATHS = {
  send: 'M3 10h12M10 5l5 5-5 5',
  clip: 'M13.5 6.5l-5.6 5.6a1.8 1.8 0 0 0 2.6 2.6l6-6a3.4 3.4 0 0 0-4.9-4.9l-6 6a5 5 0 0 0 7.1 7.1l4.6-4.6',
  at: 'M13 10a3 3 0 1 0-6 0 3 3 0 0 0 6 0zm0 0v1.2a2 2 0 0 0 4 0V10a7 7 0 1 0-2.8 5.6',
  slash: 'M12.5 3.5l-5 13',
  dots: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  close: 'M5 5l10 10M15 5L5 15',
  back: 'M12 4l-6 6 6 6',
  menu: 'M3 6h14M3 10h14M3 14h14',
  play: 'M6 4l10 6-10 6z',
  knobs: 'M3 6h7m4 0h3M3 14h3m4 0h7M12 4v4M8 12v4',
  bolt: 'M11 2.5L4.5 11.5H10l-1 6 6.5-9H10z',
  heart: 'M10 16.5S3.5 12.6 3.5 8.2A3.4 3.4 0 0 1 10 6.8a3.4 3.4 0 0 1 6.5 1.4c0 4.4-6.5 8.3-6.5 8.3z',
  sun: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1',
  moon: 'M16 11.8A6.5 6.5 0 0 1 8.2 4 6.5 6.5 0 1 0 16 11.8z',
  auto: 'M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14',
  hash: 'M7.5 3.5l-1.5 13M14 3.5l-1.5 13M3.5 7.5h13M3.5 12.5h13',
  thread: 'M4 4h12v8H9l-3.5 3v-3H4z',
  people: 'M7.5 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 16c.4-2.8 2-4.3 4.5-4.3S11.600 13.200 12 16M13 9.500a2 2 0 1 0 0-4M14.500 11.800c1.400.6 2.300 2 2.500 4.200',
  bell: 'M5 13.500V9a5 5 0 0 1 10 0v4.500l1 1.500H4zM8.500 17h3',
  mute: 'M5 13.500V9a5 5 0 0 1 8.500-3.600M15 9.500v4l1 1.500H6.500M8.500 17h3M3 3l14 14',
  reply: 'M8 5L3.500 9.500 8 14M3.500 9.500H11a5.500 5.500 0 0 1 5.500 5.500',
  edit: 'M4 16l.8-3.500L13 4.300l2.700 2.700-8.200 8.200z',
  branch: 'M6 4v12M6 12c0-3 8-2 8-6M14 6V4',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  eye: 'M2.500 10S5 5 10 5s7.500 5 7.500 5-2.500 5-7.500 5-7.500-5-7.500-5zM10 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  save: 'M10 3v9M6.500 8.500L10 12l3.500-3.500M4 16h12',
  down: 'M5 8l5 5 5-5',
  up: 'M5 12l5-5 5 5',
  skull: 'M4 9a6 6 0 0 1 12 0v3l-2 1v3H6v-3l-2-1zM8 10h.01M12 10h.01',
};

/** icon makes an icon; it says nothing to screen readers. */
export function icon(name) {
  return s('svg', { viewBox: '0 0 20 20', class: 'icon', 'aria-hidden': 'true', focusable: 'false' },
    s('path', { d: PATHS[name], fill: 'none', stroke: 'currentColor', 'stroke-width': name === 'dots' ? 2.4 : 1.6, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }));
}
