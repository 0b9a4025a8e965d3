// ── Composer ───────────────────────────────────────────────────────────────────────────────────────
let menu = null; // {items: [{label, hint, face, pick, complete}], at, manual}

async function send(room, raw, as = speakerOf(room.chat), reply = null) {
  const text = raw.trim();
  if (!text) return true;
  stick = true;
  try {
    await post('/demo/send', { chat_id: room.chat.id, message_thread_id: room.thread, from: as.id, text, reply_to: reply?.message_id });
    return true;
  } catch (error) { toast(`Not sent: ${error.message}`, true); return false; }
}
async function submit() {
  const room = state.open;
  const [text, reply] = [$('input').value, room.replyTo];
  if (!text.trim()) return;
  $('input').value = room.input = '';
  room.replyTo = null;
  paintComposer();
  if (await send(room, text, undefined, reply)) return;
  // What could not be sent comes back, unless something else was begun meanwhile.
  room.replyTo ??= reply;
  if (room !== state.open) room.input ||= text;
  else { $('input').value ||= text; paintComposer(); }
}
function insert(text) {
  const input = $('input');
  input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end');
  input.focus();
  typed();
}
function replyTo(room, m) {
  room.replyTo = m;
  paintComposer();
  $('input').focus();
}
function paintComposer() {
  const room = state.open;
  const [input, me] = [$('input'), speakerOf(room.chat)];
  const many = isGroup(room) && people(room.chat).length > 1;
  input.placeholder = many && me.id !== state.me.id ? `Message as ${me.first_name}` : 'Message';
  $('speak').hidden = !many;
  $('speak').replaceChildren(avatar(me.id, nameOf(me)));
  $('speak').title = `You speak as ${nameOf(me)}`;
  $('speak').setAttribute('aria-label', `You speak as ${nameOf(me)}; choose another member`);
  const m = room.replyTo;
  $('replybar').hidden = !m;
  if (m) {
    const close = el('button.icon', { type: 'button', 'aria-label': 'Do not reply', onclick: () => { room.replyTo = null; paintComposer(); input.focus(); } }, icon('close'));
    $('replybar').replaceChildren(icon('reply'), quoteBox(room, m), close);
  }
  resize();
}
function resize() {
  const input = $('input');
  input.style.height = 'auto';
  input.style.height = `${input.scrollHeight}px`;
  $('send').disabled = !input.value.trim();
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
  return state.commands.filter(({ command }) => command.startsWith(start)).map(({ command, description }) => ({
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
    pick: () => { chat.speaker = member.id; paintComposer(); $('input').focus(); },
  }));
}
function setMenu(items, title, manual = false) {
  menu = items?.length ? { items, at: Math.max(0, items.findIndex((item) => item.checked)), manual } : null;
  $('menu').hidden = !menu;
  $('input').removeAttribute('aria-activedescendant');
  if (!menu) return;
  $('menu').replaceChildren(el('p', { role: 'presentation' }, title), ...items.map((item, i) => el('div.option', {
    id: `option${i}`, role: 'option', onmousedown: (event) => event.preventDefault(), onmousemove: () => { if (menu.at !== i) choose(i, false); }, onclick: () => pickItem(item),
  }, item.face, el('b', null, item.label), el('small.clip', null, item.hint ?? ''), item.checked ? icon('check') : null)));
  choose(menu.at);
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
  if (event.key === 'ArrowDown') choose(menu.at + 1);
  else if (event.key === 'ArrowUp') choose(menu.at - 1);
  else if (event.key === 'Tab' && !event.shiftKey) pickItem(menu.items[menu.at], 'complete');
  else if (event.key === 'Enter' && !event.shiftKey) pickItem(menu.items[menu.at]);
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
  else if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); submit(); }
}
function pageKey(event) {
  if (event.defaultPrevented || $('alert').open) return;
  if (event.key === 'Escape') {
    if (menu) return setMenu(null);
    if (state.open?.replyTo) { state.open.replyTo = null; return paintComposer(); }
    if (!$('calls').hidden && $('calls').contains(document.activeElement)) return toggleCalls(false);
  }
  // Typing anywhere writes into the composer.
  if (event.target === document.body && state.open && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) $('input').focus();
}
function logKey(event) {
  const nodes = [...$('items').querySelectorAll('[data-id]')];
  const at = nodes.indexOf(document.activeElement.closest('[data-id]'));
  if (event.key === 'r' && at >= 0 && !event.ctrlKey && !event.metaKey) {
    const m = state.open.messages.get(Number(nodes[at].dataset.id));
    if (m && !isService(m)) { event.preventDefault(); replyTo(state.open, m); }
  }
  if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
  event.preventDefault();
  const next = event.key === 'ArrowUp' ? (at < 0 ? nodes.length - 1 : Math.max(0, at - 1)) : Math.min(nodes.length - 1, at + 1);
  nodes[next]?.focus();
  nodes[next]?.scrollIntoView({ block: 'nearest' });
}
