// Elements by function call, and lists that keep their elements.

const SVG = 'http://www.w3.org/2000/svg';

function fill(el, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
    else if (name === 'text') el.textContent = value;
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'hidden' || name === 'selected') el[name] = value;
    else el.setAttribute(name, value === true ? '' : value);
  }
  el.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

/** h makes an HTML element: properties that begin with "on" are listeners, "text" is its text. */
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);

/** s makes an SVG element. */
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

/**
 * keyed makes a container's children those of a list: the element of a key stays the same, so
 * that focus, scroll and opened details survive.
 */
export function keyed(container, list, keyOf, make, update) {
  const had = new Map();
  for (const el of container.children) if (el.dataset.key !== undefined) had.set(el.dataset.key, el);
  let at = container.firstElementChild;
  for (const value of list) {
    const key = String(keyOf(value));
    let el = had.get(key);
    if (!el) {
      el = make(value);
      el.dataset.key = key;
    }
    had.delete(key);
    update?.(el, value);
    if (el === at) at = at.nextElementSibling;
    else container.insertBefore(el, at);
  }
  for (const el of had.values()) el.remove();
}

/** setText changes an element's text only if it differs. */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}
