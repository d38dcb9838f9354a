// How the three platforms differ in what they show. The rest is in their style sheets.

const name = (n) => n.replace(/^\w/, (c) => c.toUpperCase());

/** skins by platform. */
export const skins = {
  telegram: {
    title: 'Telegram',
    // The header says who types, and so does the chat list.
    statusIn: 'head',
    status: (show, { direct, bot }) => (direct ? 'typing' : `${name(bot.name)} is typing`),
    edited: () => 'edited',
    placeholder: () => 'Message',
    subtitle: (chat) => (chat.direct ? 'bot' : `${chat.members.length} members`),
    chatName: (chat) => chat.name,
    threadName: (t) => t.name,
    reply: 'Reply',
    branch: 'Go on from here (/branch)',
    groups: 'Chats',
  },
  discord: {
    title: 'Discord',
    statusIn: 'foot',
    status: (show, { bot }) => `${name(bot.name)} is typing…`,
    edited: () => '(edited)',
    placeholder: (at) => `Message ${at.direct ? '@' : '#'}${at.label}`,
    subtitle: () => '',
    chatName: (chat) => chat.name,
    threadName: (t) => t.name,
    reply: 'Reply',
    branch: 'Apps › branch',
    groups: 'Channels',
  },
  slack: {
    title: 'Slack',
    statusIn: 'foot',
    status: (show, { bot }) => [name(bot.name), show.text || 'is typing…'].join(' '),
    // Slack shows no mark on an app's messages that have blocks.
    edited: (m) => (m.from.bot ? '' : '(edited)'),
    placeholder: (at) => (at.inThread ? 'Reply…' : `Message ${at.direct ? '' : '#'}${at.label}`),
    subtitle: (chat) => (chat.direct ? 'App' : `${chat.members.length} members`),
    chatName: (chat) => chat.name,
    threadName: (t) => t.name,
    reply: 'Reply in thread',
    branch: 'Shortcut: branch',
    groups: 'Channels',
  },
};
