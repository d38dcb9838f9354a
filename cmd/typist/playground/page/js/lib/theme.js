// Light, dark, or what the system has.

const ORDER = ['auto', 'light', 'dark'];
const KEY = 'typist-theme';

function read() {
  try {
    const stored = localStorage.getItem(KEY);
    return ORDER.includes(stored) ? stored : 'auto';
  } catch {
    return 'auto'; // storage is switched off
  }
}

/** theme is the chosen one. */
export const theme = () => document.documentElement.dataset.theme ?? 'auto';

/** setTheme chooses one and remembers it. */
export function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem(KEY, name);
  } catch { /* it holds until the page is closed */ }
}

/** nextTheme is the one after the chosen one. */
export const nextTheme = () => ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length];

document.documentElement.dataset.theme = read();
