// ── Stream ─────────────────────────────────────────────────────────────────────────────────────────
function onHello(hello) {
  const key = state.open?.key;
  if (state.open) { stopEditing(state.open); state.open.input = $('input').value; }
  const speakers = new Map([...state.chats.values()].map((chat) => [chat.id, chat.speaker]));
  const before = new Map(state.rooms);
  Object.assign(state, { bot: hello.bot, me: hello.me, about: { notice: hello.notice, real: hello.real, stand_in: hello.stand_in }, commands: hello.commands ?? [], menus: menusOf(hello.menu_buttons), online: true, open: null });
  delete $('chips').dataset.mark; // its buttons belong to the rooms of before
  for (const store of [state.chats, state.drafts, state.busy, state.queries, state.answers]) store.clear();
  // The chat of another person comes last: it is not one of the visitor's.
  const isOthers = (chat) => Boolean(chat.person && !chat.person.is_me);
  for (const chat of hello.chats.sort((a, b) => isOthers(a) - isOthers(b))) {
    state.chats.set(chat.id, { ...chat, title: chat.title ?? hello.bot.first_name, topics: [...(chat.topics ?? [])], speaker: speakers.get(chat.id) });
  }
  const rooms = [...state.chats.values()].flatMap((chat) => [
    addRoom(chat, undefined, chat.is_forum ? 'General' : chat.title),
    ...chat.topics.map((topic) => addRoom(chat, topic.message_thread_id, topic.name)),
  ]);
  for (const key of before.keys()) if (!rooms.some((room) => room.key === key)) state.rooms.delete(key);
  $('notice').textContent = hello.notice ?? '';
  $('notice').hidden = !hello.notice;
  buildList();
  for (const m of hello.messages ?? []) onMessage(m, false);
  for (const r of hello.reactions ?? []) roomOfMessage(r.chat_id, r.message_id)?.reactions.set(r.message_id, r.reactions);
  for (const v of hello.votes ?? []) roomOfMessage(v.chat_id, v.message_id)?.votes.set(v.message_id, v.votes);
  for (const room of state.rooms.values()) room.readUpTo ??= lastId(room);
  if (!before.size) reopenReplies();
  $('items').replaceChildren();
  state.open = state.rooms.get(key) ?? null;
  if (state.open) { stick = true; $('app').dataset.view = location.hash ? 'chat' : 'list'; $('input').value = state.open.input; paintComposer(); schedule(); } else begin(before.size === 0);
}
/** The first talk, where nothing was said in it yet: a phone's list would hide what there is to try. */
function begin(isFirst) {
  const first = state.rooms.values().next().value;
  if (isFirst && phone.matches && !location.hash && first && !first.messages.size) return go(first.key);
  route();
}
function onMessage(m, live = true) {
  const room = roomFor(m.chat.id, m.message_thread_id);
  if (!room) return;
  const isNew = !room.messages.has(m.message_id);
  const replaces = isNew && m.from?.id === state.bot.id && draftsOf(room).length > 0;
  room.messages.set(m.message_id, m);
  const title = (m.forum_topic_created ?? m.forum_topic_edited)?.name;
  if (title && room.thread && title !== room.title) { room.title = title; buildList(); }
  if (m.from?.id === state.bot.id && isNew) {
    for (const draft of draftsOf(room)) { clearTimeout(draft.leaving); state.drafts.delete(draft.key); }
    endAction(room);
    room.seenUpTo = Math.max(room.seenUpTo, m.message_id);
  }
  if (!live) return;
  if (isNew && room === state.open) {
    // A message that takes a draft's place is already on the screen: it must not enter again.
    if (!replaces) nodeOf(room, m).classList.add('enter');
    if (!isOwn(room, m.from)) announce(`${nameOf(m.from)}: ${summary(m)}`);
  }
  schedule();
}
function onDeleted({ chat_id, message_id }) {
  const room = roomOfMessage(chat_id, message_id);
  if (!room) return;
  room.messages.delete(message_id);
  room.nodes.delete(message_id);
  if (room.editing?.message_id === message_id) stopEditing(room);
  if (room.replyTo?.message_id === message_id) room.replyTo = null;
  if (room.asked?.id === message_id) room.asked = null;
  if (room === state.open) paintComposer();
  schedule();
}
/** The bot asks for a reply: the composer opens with it, for those who are asked. */
function onReplyAsked({ chat_id, message_id, placeholder, people }) {
  const room = roomOfMessage(chat_id, message_id);
  if (!room) return;
  room.asked = { id: message_id, placeholder, people };
  room.replyTo = null;
  if (room !== state.open) return keepReplies();
  paintComposer();
  if (askedOf(room) && !touch.matches) $('input').focus();
}
function onReaction({ chat_id, message_id, reactions }) {
  const room = roomOfMessage(chat_id, message_id);
  if (!room) return;
  room.reactions.set(message_id, reactions ?? []);
  if (reactions?.some(({ from }) => from === state.bot.id)) markSeen(room);
  schedule();
}
const ACTIONS = { upload_photo: 'sending a photo…', upload_document: 'sending a file…', upload_video: 'sending a video…', record_voice: 'recording…', upload_voice: 'sending a voice message…',
  choose_sticker: 'choosing a sticker…', find_location: 'looking for a place…' };
function onAction({ chat_id, message_thread_id, action }) {
  const room = roomFor(chat_id, message_thread_id);
  if (!room) return;
  endAction(room);
  room.action = { label: ACTIONS[action] ?? 'typing…', timer: setTimeout(() => { endAction(room); schedule(); }, 5000) };
  markSeen(room);
  schedule();
}
function endAction(room) { clearTimeout(room.action?.timer); room.action = null; }
const EVENTS = {
  hello: onHello, message: onMessage, deleted: onDeleted, draft: onDraft, draft_gone: onDraftGone, reaction: onReaction, votes: onVotes, reply_asked: onReplyAsked, chat_action: onAction,
  callback_answer: answered, call: onCall,
  commands: ({ lists }) => { state.commands = lists; schedule(); },
  menu_buttons: ({ buttons }) => { state.menus = menusOf(buttons); schedule(); },
};
/** EventSource reconnects by itself after a broken line, but gives up after a refused one: then we do it. */
function connect(wait = 1000) {
  const source = new EventSource('/demo/events');
  for (const [name, handle] of Object.entries(EVENTS)) source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  source.addEventListener('hello', () => { wait = 1000; $('banner').hidden = true; });
  source.onerror = () => {
    state.online = false;
    $('banner').hidden = false;
    paintHeader();
    if (source.readyState === EventSource.CLOSED) setTimeout(() => connect(Math.min(wait * 2, 8000)), wait);
  };
}
