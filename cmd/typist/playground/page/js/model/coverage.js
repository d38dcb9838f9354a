// Holds the indicator against the runs: gaps (it should show and does not) and ghosts (it shows
// although the answer stands).

const SLACK_MS = 350; // what clocks, storing in batches and drawing may differ by

const LATE_MS = 150_000; // an indicator that shows later than this after a run has nothing to do with it

/** cut is what of the stretches lies in a range, joined where they touch. */
function cut(list, from, to) {
  const out = [];
  for (const { start, end } of list) {
    const a = Math.max(start, from);
    const b = Math.min(end, to);
    if (b <= a) continue;
    const last = out.at(-1);
    if (last && a <= last.end + 1) last.end = Math.max(last.end, b);
    else out.push({ start: a, end: b });
  }
  return out;
}

/** minus is a range without the stretches. */
function minus(range, stretches) {
  const out = [];
  let at = range.start;
  for (const x of stretches) {
    if (x.start > at) out.push({ start: at, end: x.start });
    at = Math.max(at, x.end);
  }
  if (at < range.end) out.push({ start: at, end: range.end });
  return out;
}

/**
 * coverage looks at one run. shows are the indicator's intervals and posts the bot's new messages,
 * by time. A run shows nothing before its indicator has started (typing modes), and nothing while
 * it waits for a person (T12). After the end, what still shows is a ghost once an answer stands;
 * with none (silence) it may lapse. What shows from the next run on is that one's.
 */
export function coverage(run, shows, posts, now, next = Infinity) {
  // The agent has finished before its answer has landed; the indicator may end with either.
  const end = Math.min(run.finished || now, run.ended || now);
  const mine = cut(shows, run.started, end);
  const first = mine[0]?.start;
  const pauses = run.waits.map((w) => ({ start: w.from, end: (w.to || end) + SLACK_MS }));
  const expected = first === undefined ? [] : minus({ start: first, end }, cut(pauses, first, end));
  const gaps = expected.flatMap((range) => minus(range, cut(shows, range.start, range.end))).filter((g) => g.end - g.start > SLACK_MS);
  const late = run.ended ? cut(shows, end, Math.min(run.ended + LATE_MS, next)) : [];
  const answer = run.state !== 'silent' && posts.findLast((p) => p.at >= run.started && p.at <= run.ended + 2000);
  const ghosts = [];
  const lapses = [];
  for (const x of late) {
    if (!answer) {
      lapses.push(x);
      continue;
    }
    // An answer that was edited into an earlier message stands once it has landed.
    const from = Math.max(x.start, answer.at >= end ? answer.at : run.ended);
    if (Math.min(x.end, now) - from > SLACK_MS) ghosts.push({ start: from, end: x.end });
  }
  const total = expected.reduce((sum, x) => sum + x.end - x.start, 0);
  const missing = gaps.reduce((sum, x) => sum + x.end - x.start, 0);
  return { first, shown: total - missing, total, gaps, ghosts, lapses };
}
