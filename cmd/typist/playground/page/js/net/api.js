// Calls of the playground's server.

import { toast } from '../lib/toast.js';

/** get reads JSON; an error is thrown. */
export async function get(path, query = {}) {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const answer = await fetch(url, { credentials: 'same-origin' });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error ?? `HTTP ${answer.status}`);
  return answer.json();
}

/** post does something; what goes wrong is shown, and null comes back. */
export async function post(path, body = {}) {
  try {
    const answer = await fetch(`/api/${path}`, { method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    const data = await answer.json();
    if (answer.ok) return data;
    toast(data.error);
  } catch (e) {
    toast(`The playground does not answer: ${e.message}`);
  }
  return null;
}

/** fileURL is where a message's file is. */
export function fileURL(m, n) {
  return `/api/file?${new URLSearchParams({ platform: m.platform, chat: m.chat, id: m.id, n })}`;
}
