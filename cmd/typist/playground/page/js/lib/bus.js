// Tells listeners that a topic changed, once per frame however often it did.

const listeners = new Map();
const pending = new Set();
let asked = false;

/** on calls f after every frame in which the topic changed; it returns a function that ends that. */
export function on(topic, f) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(f);
  return () => listeners.get(topic).delete(f);
}

function flush() {
  asked = false;
  const topics = [...pending];
  pending.clear();
  const called = new Set();
  for (const topic of topics) for (const f of listeners.get(topic) ?? []) {
    if (!called.has(f)) {
      called.add(f);
      f();
    }
  }
}

/** changed says that a topic changed. */
export function changed(topic) {
  pending.add(topic);
  if (asked) return;
  asked = true;
  // A page in the background draws no frames; it has to be up to date all the same.
  if (document.hidden) setTimeout(flush, 50);
  else requestAnimationFrame(flush);
}
