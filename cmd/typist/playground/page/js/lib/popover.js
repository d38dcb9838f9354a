// Menus and panels that lie over the page: one at a time, closed by Escape, a click elsewhere or
// the focus leaving.

let open = null;

/** closePopover closes what is open; the focus goes back where it came from. */
export function closePopover({ refocus = true } = {}) {
  if (!open) return;
  const { el, opener, onclose } = open;
  open = null;
  el.remove();
  opener?.setAttribute('aria-expanded', 'false');
  if (refocus) opener?.focus();
  onclose?.();
}

/** popover shows an element by its opener, or at a point. */
export function popover(el, opener, { at, onclose } = {}) {
  const same = open?.opener === opener && opener;
  closePopover({ refocus: false });
  if (same) {
    opener.focus();
    return;
  }
  el.classList.add('popover');
  document.body.append(el);
  open = { el, opener, onclose };
  opener?.setAttribute('aria-expanded', 'true');
  place(el, at ?? opener.getBoundingClientRect());
  (el.querySelector('[autofocus]') ?? el.querySelector('button:not([disabled]), input, select, [tabindex="0"]'))?.focus();
}

function place(el, anchor) {
  const gap = 6;
  const { offsetWidth: w, offsetHeight: height } = el;
  const left = Math.min(Math.max(gap, anchor.left), innerWidth - w - gap);
  const below = anchor.bottom + gap;
  const top = below + height <= innerHeight - gap ? below : Math.max(gap, Math.min(anchor.top - gap - height, innerHeight - height - gap));
  el.style.left = `${Math.max(gap, left)}px`;
  el.style.top = `${top}px`;
}

document.addEventListener('keydown', (e) => {
  if (e.key !== 'Escape' || !open) return;
  e.stopPropagation();
  e.preventDefault();
  closePopover();
}, true);
document.addEventListener('pointerdown', (e) => {
  if (open && !open.el.contains(e.target) && !open.opener?.contains(e.target)) closePopover({ refocus: false });
});
document.addEventListener('focusin', (e) => {
  if (open && !open.el.contains(e.target) && !open.opener?.contains(e.target) && e.target !== document.body) closePopover({ refocus: false });
});
