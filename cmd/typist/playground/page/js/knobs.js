// The knobs (W4): they change typist's settings for all chats at once, as a reload of its config does.

import { h } from './lib/dom.js';
import { icon } from './lib/icons.js';
import { closePopover } from './lib/popover.js';
import { toast } from './lib/toast.js';
import { post } from './net/api.js';
import { bot, setup } from './model/world.js';

const LANGUAGES = { en: 'English', de: 'Deutsch', ja: '日本語', zh: '中文' };

function choice(label, options, value, name, words = {}) {
  return h('label', { class: 'field' }, h('span', { text: label }),
    h('select', { onchange: (e) => post('settings', { [name]: e.target.value }) },
      options.map((o) => h('option', { value: o, text: words[o] ?? o, selected: o === value }))));
}

/** knobPanel is the panel. */
export function knobPanel() {
  const interval = h('input', {
    type: 'number', min: 1, max: 120, step: 0.5, placeholder: '6', value: bot.typingSeconds || '',
    onchange: (e) => { if (e.target.checkValidity()) post('settings', { typingSeconds: Number(e.target.value) }); else e.target.reportValidity(); },
  });
  const act = async (path, body, said) => {
    closePopover();
    const answer = await post(path, body);
    if (answer) toast(said(answer));
  };
  return h('div', { class: 'panel knobs', role: 'dialog', 'aria-label': 'Knobs' },
    h('h3', { text: 'Typing' }),
    choice('Mode', ['', ...setup.modes], bot.typingMode, 'typingMode', { '': 'by kind of chat' }),
    h('label', { class: 'field' }, h('span', { text: 'Renewed every (s)' }), interval),
    h('h3', { text: 'Progress' }),
    choice('View', setup.views, bot.view, 'view'),
    choice('Thinking', setup.reasoning, bot.reasoning, 'reasoning', { off: 'never shown', on: 'when it has ended', stream: 'live' }),
    choice('Language', setup.languages, bot.language, 'language', LANGUAGES),
    choice('Messages while busy', setup.queues, bot.queue, 'queue', { followup: 'wait', collect: 'wait, as one', steer: 'go to the run', interrupt: 'end the run' }),
    h('p', { class: 'hint', text: 'A run in work keeps the settings it began with. /typing and /view in a chat go before these.' }),
    h('h3', { text: 'Break something' }),
    h('div', { class: 'panel-row' },
      h('button', { type: 'button', class: 'button', onclick: () => act('kill', { seconds: 3 }, () => 'The bot was killed. It comes back in 3 s.') }, icon('skull'), 'Kill the bot'),
      h('button', { type: 'button', class: 'button', onclick: () => act('break', {}, ({ runs }) => (runs ? `${runs} ${runs === 1 ? 'run has' : 'runs have'} lost the backend.` : 'Nothing runs.')) }, icon('bolt'), 'Kill the backend')));
}
