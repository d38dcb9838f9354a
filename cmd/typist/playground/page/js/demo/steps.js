// What each prepared script does, step by step. A step is {say}, {press}, {edit}, {fault}, {kill},
// {beat} or {ended}; "when" is what a message of the bot must say before, "caption" what to watch.

const again = { say: true };
const ended = { ended: true };

/** scripts by the name of the demonstration. */
export const scripts = {
  quick: [{ ...again, caption: 'The indicator shows while it thinks, and goes with the answer. No progress message: the answer was too quick for one.' }, ended],
  build: [{ ...again, caption: 'One message is edited in place: steps, the running tool, the clock. After 15 s the answer is a new message, so that it notifies.' }, ended],
  'silent-thinking': [{ ...again, caption: 'Twelve seconds of thinking of which nothing is told: the clock ticks and the indicator stays, with no event at all.' }, ended],
  parallel: [{ ...again, caption: 'Four tools at once; the newest that still runs is named. One of them fails: look at Details afterwards.' }, ended],
  subagents: [{ ...again, caption: 'Two subagents at the same time. Each has its own area, here and in the trace: they never mix.' }, ended],
  silence: [{ ...again, caption: 'It decides to stay silent. The indicator showed, and nothing else is left in the chat.' }, { ended: true, silent: true }],
  retry: [
    { ...again, caption: 'The model is overloaded in the middle of its answer. typist waits as it was told, tries again, and repeats nothing.' },
    { press: 'Retry', optional: true, caption: 'Now it is the person’s turn: Retry.' }, ended,
  ],
  stop: [
    { ...again, caption: 'A long piece of work. In a moment Stop is pressed, while the tool runs.' },
    { press: 'Stop', when: /harbour/, caption: 'Stop: the chat says so at once, and the agent really ends.' },
    { press: 'Resume', pause: 2500, caption: 'Resume: it goes on where it was. Nothing is said twice.' }, ended,
  ],
  edit: [
    { ...again, caption: 'A question, answered as usual.' }, ended,
    { edit: 'Name three rivers in Spain', pause: 1500, caption: 'The person edits the question. A second answer grows beside the first.' },
    { press: '◀', pause: 3500, caption: '◀ shows the first answer again. The conversation goes on from whichever is shown.' },
    { press: '▶', pause: 3000, caption: '▶ and back to the second. Look at Tree in the inspector.' }, ended,
  ],
  limits: [
    { fault: { op: 'edit', status: 429, retryAfter: 4000, times: 2 }, caption: 'The platform will refuse two edits with 429.' },
    { ...again, caption: 'Fast text, few edits: the newest state wins, 429 is waited out, and the last state always arrives. Look at API calls.' }, ended,
  ],
  restart: [
    { ...again, caption: 'A backup with a slow step. In the middle of it the bot is killed, as with kill -9.' },
    { kill: 3, when: /half a minute/, caption: 'Killed. It is back in 3 s.' },
    { press: 'Resume', pause: 2500, caption: 'The run came back as interrupted. Resume goes on: finished tools do not run again.' }, ended,
  ],
  approval: [
    { ...again, caption: 'Before it deletes something it asks. While it waits for a person, the indicator pauses.' },
    { press: 'Delete both', pause: 4000, caption: 'A person decides.' }, ended,
  ],
  files: [{ ...again, caption: 'A picture and a text file come with the answer.' }, ended],
  heartbeat: [{ beat: true, caption: 'A heartbeat: the indicator shows while it checks. There is nothing to say, so nothing is said.' }, { ended: true, silent: true }],
};

/** stepsOf are the steps of a demonstration: at least its message. */
export const stepsOf = (demo) => scripts[demo.name] ?? [{ say: true, caption: demo.about }, ended];
