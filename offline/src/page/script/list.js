// ── Chat list and header ───────────────────────────────────────────────────────────────────────────
function buildList() {
  $('rooms').replaceChildren(...[...state.chats.values()].map((chat) => {
    const rooms = [...state.rooms.values()].filter((room) => room.chat === chat);
    for (const room of rooms) room.row = rowNode(room.key, faceOf(room), room.title);
    rooms[0].row.classList.toggle('other', isStranger(rooms[0]));
    if (rooms.length === 1) return rooms[0].row;
    chat.row = rowNode(rooms[0].key, avatar(chat.id, chat.title, true), chat.title);
    return el('div', { role: 'group', 'aria-label': chat.title }, chat.row, el('div.topics', null, ...rooms.map((room) => room.row)));
  }));
  schedule();
}
function faceOf({ chat, thread, title }) {
  if (chat.person && !chat.person.is_me) return avatar(chat.id, chat.person.first_name);
  if (chat.is_forum || thread) return avatar(thread ?? 5, thread ? title : '#', true);
  return chat.type === 'private' ? avatar(state.bot.id, '') : avatar(chat.id, chat.title);
}
function rowNode(key, face, title) {
  return el('button.row', { type: 'button', onclick: () => go(key) }, face, el('span.lines', null,
    el('span.line', null, el('span.title.clip', null, title), el('time')), el('span.line', null, el('span.preview.clip'), el('span.badge'))));
}
function fillRow(row, last, count, live, none = 'No messages yet') {
  row.querySelector('.title + time').textContent = last ? (dayName(last.date) === 'Today' ? time(last.date) : dayName(last.date)) : '';
  const preview = row.querySelector('.preview');
  preview.classList.toggle('live', Boolean(live));
  const who = last?.from && state.chats.get(last.chat.id).type !== 'private' && !isService(last) ? el('b', null, `${last.from.id === state.me.id ? 'You' : last.from.first_name}: `) : '';
  preview.replaceChildren(...(live ? [live] : last ? [who, summary(last)] : [none]));
  const badge = row.querySelector('.badge');
  badge.hidden = !count;
  badge.textContent = count;
  badge.setAttribute('aria-label', `${count} unread`);
}
const doing = (room) => room.action?.label ?? (draftsOf(room).length ? 'writing…' : '');
function paintRow(room) {
  if (!room.row) return;
  if (isStranger(room)) room.row.querySelector('.title').textContent = isLetIn(room) ? `Speak as ${meIn(room).first_name}` : 'Speak as a stranger';
  fillRow(room.row, sorted(room).at(-1), unread(room), doing(room), isStranger(room) ? `${meIn(room).first_name} writes to ${state.bot.first_name}` : undefined);
  room.row.setAttribute('aria-current', String(room === state.open));
}
function paintForum(chat) {
  const rooms = [...state.rooms.values()].filter((room) => room.chat === chat);
  const latest = rooms.flatMap((room) => sorted(room).slice(-1)).sort((a, b) => a.message_id - b.message_id).at(-1);
  fillRow(chat.row, latest, rooms.reduce((sum, room) => sum + unread(room), 0), '');
}
function paintHeader() {
  const room = state.open;
  $('chat').style.visibility = room ? '' : 'hidden';
  if (!room) return;
  const { chat } = room;
  if ($('face').dataset.key !== room.key + room.title) {
    $('face').dataset.key = room.key + room.title;
    // A stranger talks to the bot too: the row of the list is theirs, the talk is with it.
    $('face').replaceChildren(isGroup(room) ? faceOf(room) : avatar(state.bot.id, ''));
  }
  $('title').textContent = room.title;
  paintStranger(room);
  const members = `${chat.members?.length ?? 0} members`;
  const calmText = isStranger(room) ? `bot · you are ${meIn(room).first_name}` : !isGroup(room) ? `bot · @${state.bot.username}` : chat.is_forum ? `${chat.title} · ${members}` : `${members}: ${(chat.members ?? []).map((member) => member.first_name).join(', ')}`;
  const live = doing(room) && (isGroup(room) ? `${state.bot.first_name} is ${doing(room)}` : doing(room));
  $('status').textContent = !state.online ? 'connecting…' : live || calmText;
  $('status').classList.toggle('live', Boolean(live));
}
const go = (key) => { if (location.hash === `#${key}`) route(); else location.hash = key; };
/** The address names the room, so that the browser's own Back leads to the list on a phone. */
function route() {
  const wanted = state.rooms.get(decodeURIComponent(location.hash.slice(1)));
  const room = wanted ?? (phone.matches ? null : state.open ?? state.rooms.values().next().value);
  $('app').dataset.view = wanted ? 'chat' : 'list';
  if (room === state.open && room) return schedule();
  if (state.open) { stopEditing(state.open); state.open.input = $('input').value; }
  state.open = room ?? null;
  if (!room) return schedule();
  for (const { node } of room.nodes.values()) node.classList.remove('enter');
  stick = true;
  if (!room.messages.size) $('log').scrollTop = 0;
  $('input').value = room.input;
  setMenu(null);
  paintComposer();
  if (!touch.matches) $('input').focus();
  schedule();
}
