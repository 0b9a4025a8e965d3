// ── What one does with a message ───────────────────────────────────────────────────────────────────
const REACTIONS = ['👍', '❤', '🔥', '🎉', '😁', '🤔', '😢', '👎'];
const isMine = (room, m) => m.from?.id === speakerOf(room.chat).id;
const canEdit = (room, m) => isMine(room, m) && (m.text != null || m.photo || m.document) && !m.forward_origin;
const canDelete = (room, m) => !isGroup(room) || isMine(room, m) || speakerOf(room.chat).id === state.me.id;
const reactionOf = (room, m) => room.reactions.get(m.message_id)?.find((reaction) => reaction.from === speakerOf(room.chat).id)?.emoji;

/** The menu of a message, at the pointer or beside the message. */
function openActs(room, m, event) {
  const text = m.text ?? m.caption ?? (m.rich_message && linesOf(m.rich_message.blocks).join('\n'));
  const mine = reactionOf(room, m);
  const run = (act) => () => { closeActs(); act(); };
  const emoji = REACTIONS.map((each) => el('button', {
    type: 'button', role: 'menuitemradio', 'aria-checked': String(each === mine), 'aria-label': `React with ${each}`, onclick: run(() => react(room, m, each === mine ? null : each)),
  }, each));
  const item = (label, name, act, cls = '') => el(`button.act${cls}`, { type: 'button', role: 'menuitem', onclick: run(act) }, icon(name), label);
  const items = [
    item('Reply', 'reply', () => replyTo(room, m)),
    canEdit(room, m) ? item('Edit', 'edit', () => editMessage(room, m)) : null,
    text ? item('Copy text', 'copy', () => copy(text)) : null,
    canDelete(room, m) ? item('Delete', 'trash', () => askDelete(room, m), '.danger') : null,
  ];
  $('acts').replaceChildren(el('div.emoji', { role: 'group', 'aria-label': 'Reactions' }, ...emoji), ...items.filter(Boolean));
  $('acts').showPopover();
  place($('acts'), event, room.nodes.get(m.message_id).node.querySelector('.bubble'));
  $('acts').querySelector('.act').focus();
}
// An automatic popover would close at the end of the very press of a mouse button that opens it.
const areActsOpen = () => $('acts').matches(':popover-open');
function closeActs() { if (areActsOpen()) $('acts').hidePopover(); }
/** Puts a menu where it was asked for, whole inside the window. */
function place(menu, event, beside) {
  const { left, top, height } = beside.getBoundingClientRect();
  const at = event?.clientX ? [event.clientX, event.clientY] : [left + 12, top + Math.min(height, 40)];
  const { offsetWidth: wide, offsetHeight: high } = menu;
  menu.style.left = `${Math.max(8, Math.min(at[0], innerWidth - wide - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(at[1], innerHeight - high - 8))}px`;
}
function actsKey(event) {
  if (event.key === 'Escape') { event.preventDefault(); closeActs(); return $('log').focus(); }
  if (event.key === 'Tab') return closeActs();
  const nodes = [...$('acts').querySelectorAll('button')];
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  nodes.at((nodes.indexOf(document.activeElement) + step) % nodes.length).focus();
}
async function react(room, m, emoji) {
  try { await post('/demo/react', { chat_id: m.chat.id, message_id: m.message_id, from: speakerOf(room.chat).id, emoji }); } catch (error) { toast(`Not changed: ${error.message}`, true); }
}
function askDelete(room, m) {
  ask('Delete this message for everybody? Telegram does not tell a bot of it.', 'Delete', async () => {
    try { await post('/demo/delete', { chat_id: m.chat.id, message_id: m.message_id, from: speakerOf(room.chat).id }); } catch (error) { toast(`Not deleted: ${error.message}`, true); }
  });
}
function reactionRow(room, m, reactions, ghost, had) {
  const groups = Map.groupBy(reactions, (reaction) => reaction.emoji ?? '★');
  const old = new Set((had?.reactions ?? []).map((reaction) => reaction.emoji));
  const mine = reactionOf(room, m);
  const person = (id) => (id === state.bot.id ? state.bot : people(room.chat).find((member) => member.id === id));
  const chips = [...groups].map(([emoji, each]) => el(`button.re${had && !old.has(emoji) ? '.pop' : ''}`, {
    type: 'button', title: each.map(({ from }) => nameOf(person(from))).join(', '), 'aria-pressed': String(emoji === mine), 'aria-label': `${emoji}, ${each.length}`,
    onclick: () => react(room, m, emoji === mine ? null : emoji),
  }, emoji, ...each.length > 3 ? [String(each.length)] : each.map(({ from }) => avatar(from, nameOf(person(from))))));
  return el('div.reactions', { 'aria-label': 'Reactions' }, ...chips, ghost);
}

// ── Editing ────────────────────────────────────────────────────────────────────────────────────────
function editMessage(room, m) {
  if (!room.editing) room.stash = $('input').value;
  Object.assign(room, { editing: m, replyTo: null });
  $('input').value = m.text ?? m.caption ?? '';
  paintComposer();
  $('input').focus();
}
function stopEditing(room) {
  if (!room.editing) return;
  room.editing = null;
  if (room === state.open) $('input').value = room.stash ?? '';
  else room.input = room.stash ?? '';
  room.stash = '';
}
function editLast(room) {
  const m = sorted(room).findLast((each) => canEdit(room, each));
  if (m) editMessage(room, m);
  return Boolean(m);
}
async function submitEdit(room) {
  const [m, text] = [room.editing, $('input').value.trim()];
  const most = m.text == null ? MAX_CAPTION : MAX_TEXT;
  if (!text) return toast('A message needs a text: delete it instead', true);
  if (text.length > most) return toast(`An edited text has at most ${most} characters; this one has ${text.length}`, true);
  stopEditing(room);
  paintComposer();
  if (text === (m.text ?? m.caption)) return;
  try { await post('/demo/edit', { chat_id: m.chat.id, message_id: m.message_id, from: speakerOf(room.chat).id, text }); } catch (error) { toast(`Not changed: ${error.message}`, true); }
}
