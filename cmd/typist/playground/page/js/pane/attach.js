// Files that a person attaches.

const MAX_BYTES = 3_000_000; // together, as far as the playground's server takes them

/** readFiles reads what was picked. */
export async function readFiles(list) {
  const all = [...list];
  if (all.reduce((n, f) => n + f.size, 0) > MAX_BYTES) throw new Error('That is too much for the playground: 3 MB at most.');
  return Promise.all(all.map(async (f) => ({ name: f.name, mime: f.type || 'text/plain', data: base64(new Uint8Array(await f.arrayBuffer())) })));
}

function base64(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
