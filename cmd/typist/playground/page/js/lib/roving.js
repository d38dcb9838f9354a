// One tab stop for a list; arrows, Home and End move in it.

/**
 * roving makes the elements that match a selector one tab stop. Elements may come and go: the
 * stop is put right whenever the list gets or loses the focus, and by calling the result.
 */
export function roving(container, selector, { horizontal = false } = {}) {
  const items = () => [...container.querySelectorAll(selector)];
  const back = horizontal ? 'ArrowLeft' : 'ArrowUp';
  const forth = horizontal ? 'ArrowRight' : 'ArrowDown';
  let last = null; // the element that had the focus

  function settle() {
    const list = items();
    const stop = list.includes(last) ? last : list.find((el) => el.matches('[aria-selected="true"],[aria-current="true"]')) ?? list.at(horizontal ? 0 : -1);
    for (const el of list) el.tabIndex = el === stop ? 0 : -1;
  }

  container.addEventListener('focusin', (e) => {
    const el = e.target.closest(selector);
    if (!el || !container.contains(el)) return;
    last = el;
    settle();
  });
  container.addEventListener('keydown', (e) => {
    const at = items().indexOf(e.target);
    if (at < 0) return;
    const list = items();
    const to = { [back]: at - 1, [forth]: at + 1, Home: 0, End: list.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    list[Math.min(Math.max(to, 0), list.length - 1)].focus();
  });
  settle();
  return settle;
}
