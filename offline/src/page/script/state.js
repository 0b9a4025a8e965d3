// ── State ──────────────────────────────────────────────────────────────────────────────────────────
// A room is what one reads as one conversation: a chat, or a topic of a forum. Its key is `chat` or `chat:thread`.
const state = {
  bot: null, me: null, about: {}, chats: new Map(), rooms: new Map(), open: null, commands: [], menus: new Map(), online: false,
  drafts: new Map(), // `chat:draft` → draft bubble
  busy: new Set(), // keys of inline buttons that wait for their callback answer
  queries: new Map(), // callback_query_id → key of its button
  answers: new Map(), // answers that overtook the reply to their own POST
};
let stick = true; // the reader is at the bottom and wants to stay there
let frame = 0;
let moving = 0; // timer since the last scrolling
let lastTop = 0;

const keyOf = (chatId, thread) => (thread ? `${chatId}:${thread}` : `${chatId}`);
const isGroup = (room) => room.chat.type !== 'private';
/** Who the visitor is in a room: in the private chat of someone else, that person. */
const meIn = (room) => room.chat.person ?? state.me;
const isStranger = (room) => meIn(room).id !== state.me.id;
const isOwn = (room, from) => from?.id === meIn(room).id;
function addRoom(chat, thread, title) {
  const key = keyOf(chat.id, thread);
  const old = state.rooms.get(key);
  // A reconnect brings everything anew; what the reader did here (unread mark, unsent text) stays.
  const room = {
    key, chat, thread, title, messages: new Map(), reactions: new Map(), votes: new Map(), ballots: new Map(), nodes: new Map(), days: new Map(), hints: null,
    readUpTo: old?.readUpTo, seenUpTo: 0, action: null, input: old?.input ?? '', replyTo: null, asked: old?.asked ?? null, editing: null, attached: old?.attached ?? null, noChips: old?.noChips ?? false, row: null,
  };
  state.rooms.set(key, room);
  return room;
}
function roomFor(chatId, thread) {
  const chat = state.chats.get(chatId);
  if (!chat) return null;
  // Outside forums a thread id only marks a chain of replies.
  const topic = thread && (chat.is_forum || chat.topics?.length) ? thread : undefined;
  const room = state.rooms.get(keyOf(chatId, topic));
  if (room || !topic) return room ?? null;
  chat.topics.push({ message_thread_id: topic, name: `Topic ${topic}` });
  const added = addRoom(chat, topic, `Topic ${topic}`);
  buildList();
  return added;
}
const sorted = (room) => [...room.messages.values()].sort((a, b) => a.message_id - b.message_id);
const lastId = (room) => Math.max(0, ...room.messages.keys());
const unread = (room) => sorted(room).filter((m) => m.message_id > (room.readUpTo ?? 0) && !isOwn(room, m.from)).length;
const speakerOf = (chat) => chat.members?.find((member) => member.id === chat.speaker) ?? chat.person ?? state.me;
const roomOfMessage = (chatId, messageId) => [...state.rooms.values()].find((room) => room.chat.id === chatId && room.messages.has(messageId));
/** Everything the bot does in a room shows that it has read what was there: the second tick. */
const markSeen = (room) => { room.seenUpTo = Math.max(room.seenUpTo, lastId(room)); };

const listOf = (type, chatId) => state.commands.find(({ scope, language }) => scope.type === type && scope.chat_id === chatId && !language);
/** The commands of a room, as Telegram chooses them: the chat's own, else those for everybody. */
const commandsOf = ({ chat }) => (listOf('chat', chat.id) ?? listOf(chat.type === 'private' ? 'all_private_chats' : 'all_group_chats') ?? listOf('default'))?.commands ?? [];
/** The language that the bot speaks in a room: that of the list for everybody with the same words. */
function languageOf(room) {
  const own = JSON.stringify(commandsOf(room));
  return state.commands.find(({ scope, language, commands }) => scope.type === 'default' && language && JSON.stringify(commands) === own)?.language ?? 'en';
}

function schedule() {
  const total = [...state.rooms.values()].reduce((sum, room) => sum + unread(room), 0);
  document.title = total ? `(${total}) Figaro demo` : 'Figaro demo';
  frame ||= requestAnimationFrame(() => { frame = 0; render(); });
}
