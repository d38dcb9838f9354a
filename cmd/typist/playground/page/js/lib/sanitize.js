// Message HTML comes escaped and safe; it is let through an allow-list all the same.

const TAGS = new Set(['P', 'B', 'I', 'S', 'U', 'CODE', 'PRE', 'A', 'UL', 'OL', 'LI', 'BLOCKQUOTE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6',
  'TABLE', 'TR', 'TH', 'TD', 'DETAILS', 'SUMMARY', 'BR', 'HR']);
const INVISIBLE = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'IFRAME', 'OBJECT']);

function copy(from, to) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      to.append(node.data);
      continue;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || INVISIBLE.has(node.tagName)) continue;
    if (!TAGS.has(node.tagName)) {
      copy(node, to); // an unknown element is its content
      continue;
    }
    const el = document.createElement(node.tagName);
    if (node.tagName === 'A') link(el, node.getAttribute('href'));
    if (node.tagName === 'CODE') {
      const language = /^language-([\w+#.-]{1,20})$/.exec(node.className);
      if (language) el.dataset.language = language[1];
    }
    if (node.tagName === 'OL' && node.start > 1) el.start = node.start;
    copy(node, el);
    if (node.tagName === 'PRE') el.tabIndex = 0; // it scrolls, so the keyboard must reach it
    to.append(node.tagName === 'TABLE' ? scroller(el) : el);
  }
}

function scroller(table) {
  const box = document.createElement('div');
  box.className = 'scroll';
  box.tabIndex = 0;
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', 'table');
  box.append(table);
  return box;
}

function link(el, href) {
  let url;
  try {
    url = new URL(href);
  } catch {
    return;
  }
  if (!['http:', 'https:', 'mailto:'].includes(url.protocol)) return;
  el.href = url.href;
  el.target = '_blank';
  el.rel = 'noopener noreferrer';
}

/** sanitized is a fragment with what of the HTML may be shown. */
export function sanitized(html) {
  const fragment = document.createDocumentFragment();
  copy(new DOMParser().parseFromString(html, 'text/html').body, fragment);
  return fragment;
}
