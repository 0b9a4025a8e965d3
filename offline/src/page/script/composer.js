// ── Composer ───────────────────────────────────────────────────────────────────────────────────────
let menu = null; // {items: [{label, hint, face, pick, complete}], at, manual}
const MAX_TEXT = 4096;

/** A text in the parts that fit into a message, cut between lines or words where there are any. */
function partsOf(text) {
  const parts = [];
  let rest = text.trim();
  while (rest.length > MAX_TEXT) {
    const head = rest.slice(0, MAX_TEXT);
    let cut = [head.lastIndexOf('\n'), head.lastIndexOf(' ')].find((at) => at > MAX_TEXT / 2) ?? MAX_TEXT;
    if (/[\uD800-\uDBFF]/.test(rest[cut - 1])) cut -= 1; // never between the halves of a surrogate pair
    parts.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  return rest ? [...parts, rest] : parts;
}
// A slash alone is a command that is not chosen yet.
const isNothing = (text) => ['', '/'].includes(text.trim());

async function send(room, raw, as = speakerOf(room.chat), reply = null) {
  stick = true;
  try {
    for (const [i, text] of partsOf(raw).entries()) {
      await post('/demo/send', { chat_id: room.chat.id, message_thread_id: room.thread, from: as.id, text, reply_to: i ? undefined : reply?.message_id });
    }
    return true;
  } catch (error) { toast(`Not sent: ${error.message}`, true); return false; }
}
async function submit() {
  const room = state.open;
  if (room.editing) return submitEdit(room);
  const { attached, asked } = room;
  const reply = replyOf(room);
  const text = $('input').value;
  if (isNothing(text) && !attached) return;
  $('input').value = room.input = '';
  room.replyTo = room.attached = null;
  if (reply?.message_id === asked?.id) room.asked = null;
  paintComposer();
  if (await (attached ? sendAttached(room, attached, text.trim(), reply) : send(room, text, undefined, reply))) return;
  // What could not be sent comes back, unless something else was begun meanwhile.
  room.replyTo ??= reply;
  room.attached ??= attached;
  if (room !== state.open) room.input ||= text;
  else { $('input').value ||= text; paintComposer(); }
}
function insert(text) {
  const input = $('input');
  input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end');
  input.focus();
  typed();
}
/** The message that the bot asks whoever speaks to reply to. */
const askedOf = (room) => (!room.asked?.people || room.asked.people.includes(speakerOf(room.chat).id) ? room.messages.get(room.asked?.id) : null);
const replyOf = (room) => room.replyTo ?? askedOf(room);
/** What the composer was opened for outlives a reload of the page in its tab. */
function keepReplies() {
  const open = [...state.rooms.values()].filter((room) => room.asked || room.replyTo);
  sessionStorage.setItem('replies', JSON.stringify(open.map((room) => [room.key, room.asked, room.replyTo?.message_id])));
}
function reopenReplies() {
  for (const [key, asked, id] of JSON.parse(sessionStorage.getItem('replies') ?? '[]')) {
    const room = state.rooms.get(key);
    if (room) Object.assign(room, { asked: room.messages.has(asked?.id) ? asked : null, replyTo: room.messages.get(id) ?? null });
  }
}
/** Ends what the composer was opened for: an edit, else a reply. */
function leave(room) {
  if (room.editing) stopEditing(room);
  else room.replyTo = room.asked = null;
  paintComposer();
}
function replyTo(room, m) {
  stopEditing(room);
  room.replyTo = m;
  paintComposer();
  $('input').focus();
}
function paintComposer() {
  const room = state.open;
  const [input, me] = [$('input'), speakerOf(room.chat)];
  const many = isGroup(room) && people(room.chat).length > 1;
  $('speak').hidden = !many;
  $('speak').replaceChildren(avatar(me.id, nameOf(me)));
  $('speak').title = `You speak as ${nameOf(me)}`;
  $('speak').setAttribute('aria-label', `You speak as ${nameOf(me)}; choose another member`);
  keepReplies();
  const m = room.editing ?? replyOf(room);
  const label = !m ? 'Message' : room.editing ? 'Edit message' : `Reply to ${nameOf(m.from)}`;
  const hint = !room.editing && m && m.message_id === room.asked?.id ? room.asked.placeholder : null;
  input.placeholder = hint || (many && me.id !== state.me.id ? `Message as ${me.first_name}` : 'Message');
  input.setAttribute('aria-label', hint ? `${label}: ${hint}` : label);
  $('replybar').hidden = !m;
  if (m) {
    const close = el('button.icon', { type: 'button', 'aria-label': room.editing ? 'Do not edit' : 'Do not reply', onclick: () => { leave(room); input.focus(); } }, icon('close'));
    $('replybar').replaceChildren(icon(room.editing ? 'edit' : 'reply'), quoteBox(room, m, label), close);
  }
  $('attachbar').hidden = !room.attached;
  if (room.attached) $('attachbar').replaceChildren(...attachBar(room));
  $('attach').hidden = Boolean(room.editing);
  resize();
}
function resize() {
  const input = $('input');
  input.style.height = 'auto';
  input.style.height = `${input.scrollHeight}px`;
  $('send').disabled = isNothing(input.value) && !state.open.attached;
  const count = state.open.editing ? 1 : partsOf(input.value).length;
  $('parts').hidden = count < 2;
  $('parts').textContent = `Longer than a message can be: it is sent in ${count} parts.`;
}
function typed() {
  resize();
  const { value, selectionStart: caret } = $('input');
  const before = value.slice(0, caret);
  const command = /^\/(\w*)$/.exec(value);
  const mention = /(?:^|\s)@(\w*)$/.exec(before);
  if (command) setMenu(commandItems(command[1].toLowerCase()), 'Commands');
  else if (mention && isGroup(state.open)) setMenu(mentionItems(mention[1]), 'Members');
  else if (menu) setMenu(null);
}
function commandItems(start) {
  const suffix = isGroup(state.open) ? `@${state.bot.username}` : '';
  return commandsOf(state.open).filter(({ command }) => command.startsWith(start)).map(({ command, description }) => ({
    label: `/${command}`, hint: description,
    pick: () => { $('input').value = `/${command}${suffix}`; submit(); },
    complete: () => { $('input').value = ''; insert(`/${command}${suffix} `); },
  }));
}
function mentionItems(start) {
  const users = [state.bot, ...people(state.open.chat).filter((member) => member.id !== speakerOf(state.open.chat).id)];
  return users.filter((user) => user.username?.toLowerCase().startsWith(start.toLowerCase())).map((user) => ({
    label: nameOf(user), hint: `@${user.username}`, face: avatar(user.id, nameOf(user)),
    pick: () => {
      $('input').setSelectionRange($('input').selectionStart - start.length, $('input').selectionStart);
      insert(`${user.username} `);
    },
  }));
}
function speakerItems() {
  const { chat } = state.open;
  return people(chat).map((member) => ({
    label: nameOf(member), hint: member.id === state.me.id ? 'you' : member.username ? `@${member.username}` : '', face: avatar(member.id, nameOf(member)), checked: member.id === speakerOf(chat).id,
    pick: () => { chat.speaker = member.id; stopEditing(state.open); paintComposer(); schedule(); $('input').focus(); },
  }));
}
function setMenu(items, title, manual = false) {
  // Of all commands none is chosen until an arrow or the pointer chooses one.
  const first = $('input').value === '/' ? -1 : 0;
  menu = items?.length ? { items, at: Math.max(first, items.findIndex((item) => item.checked)), manual } : null;
  $('menu').hidden = !menu;
  $('input').removeAttribute('aria-activedescendant');
  if (!menu) return;
  $('menu').replaceChildren(el('p', { role: 'presentation' }, title), ...items.map((item, i) => el('div.option', {
    id: `option${i}`, role: 'option', onmousedown: (event) => event.preventDefault(), onmousemove: () => { if (menu.at !== i) choose(i, false); }, onclick: () => pickItem(item),
  }, item.face, el('b', null, item.label), el('small.clip', null, item.hint ?? ''), item.checked ? icon('check') : null)));
  if (menu.at >= 0) choose(menu.at);
}
function choose(index, reveal = true) {
  menu.at = (index + menu.items.length) % menu.items.length;
  [...$('menu').querySelectorAll('.option')].forEach((node, i) => node.setAttribute('aria-selected', String(i === menu.at)));
  $('input').setAttribute('aria-activedescendant', `option${menu.at}`);
  if (reveal) $(`option${menu.at}`).scrollIntoView({ block: 'nearest' });
}
function pickItem(item, how = 'pick') { setMenu(null); (item[how] ?? item.pick)(); }
/** Keys while the menu is open; true if the key was the menu's. */
function menuKey(event) {
  if (!menu) return false;
  const chosen = menu.items[menu.at];
  if (event.key === 'ArrowDown') choose(menu.at + 1);
  else if (event.key === 'ArrowUp') choose(Math.max(menu.at, 0) - 1);
  else if (!chosen && event.key !== 'Escape') return event.key === 'Enter' && !event.shiftKey;
  else if (event.key === 'Tab' && !event.shiftKey) pickItem(chosen, 'complete');
  else if (event.key === 'Enter' && !event.shiftKey) pickItem(chosen);
  else if (event.key === 'Escape') setMenu(null);
  else return false;
  return true;
}
function toggleMenu(items, title) {
  if (menu?.manual) return setMenu(null);
  setMenu(items, title, true);
  if (!touch.matches) $('input').focus();
}
function composerKey(event) {
  if (event.isComposing) return;
  if (menuKey(event)) event.preventDefault();
  else if (event.key === 'ArrowUp' && !$('input').value && !state.open.attached && editLast(state.open)) event.preventDefault();
  else if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); submit(); }
}
function pageKey(event) {
  if (event.defaultPrevented || document.querySelector('dialog[open]') || areActsOpen()) return;
  if (event.key === 'Escape') {
    if (menu) return setMenu(null);
    if (state.open?.editing) return leave(state.open);
    if (state.open?.attached) { state.open.attached = null; return paintComposer(); }
    if (state.open && replyOf(state.open)) return leave(state.open);
    if (!$('calls').hidden && $('calls').contains(document.activeElement)) return toggleCalls(false);
  }
  // Typing anywhere writes into the composer.
  if (event.target === document.body && state.open && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) $('input').focus();
}
function logKey(event) {
  const nodes = [...$('items').querySelectorAll('[data-id]')];
  const at = nodes.indexOf(document.activeElement.closest('[data-id]'));
  const m = at >= 0 ? state.open.messages.get(Number(nodes[at].dataset.id)) : null;
  if (m && !isService(m) && document.activeElement === nodes[at] && !event.ctrlKey && !event.metaKey) {
    if (event.key === 'r') { event.preventDefault(); return replyTo(state.open, m); }
    if (event.key === 'Enter') { event.preventDefault(); return openActs(state.open, m); }
  }
  if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
  event.preventDefault();
  const next = event.key === 'ArrowUp' ? (at < 0 ? nodes.length - 1 : Math.max(0, at - 1)) : Math.min(nodes.length - 1, at + 1);
  nodes[next]?.focus();
  nodes[next]?.scrollIntoView({ block: 'nearest' });
}
