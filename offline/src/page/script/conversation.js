// ── Conversation ───────────────────────────────────────────────────────────────────────────────────
function render() {
  if (!state.me) return;
  for (const room of state.rooms.values()) paintRow(room);
  for (const chat of state.chats.values()) if (chat.row) paintForum(chat);
  const room = state.open;
  paintHeader();
  if (!room) return;
  if (stick && !document.hidden && (!phone.matches || $('app').dataset.view === 'chat') && unread(room)) { room.readUpTo = lastId(room); schedule(); }
  let growing = false;
  for (const draft of draftsOf(room)) growing = growDraft(draft) || growing;
  paintMessages(room);
  paintChips(room);
  paintMenuButton(room);
  paintDown();
  if (stick) toBottom();
  paintDates();
  if (growing) schedule();
}
function paintMessages(room) {
  const items = sorted(room).map((m) => ({ from: m.from?.id ?? m.sender_chat?.id, date: m.date, node: nodeOf(room, m), id: m.message_id, service: isService(m) }));
  for (const draft of draftsOf(room)) items.push({ from: state.bot.id, date: draft.date, node: draft.node, id: Infinity });
  const days = [];
  items.forEach((item, i) => {
    const joins = (other) => other && !other.service && !item.service && other.from === item.from && Math.abs(other.date - item.date) < 600 && dayOf(other.date) === dayOf(item.date);
    const [first, last] = [!joins(items[i - 1]), !joins(items[i + 1])];
    item.node.classList.toggle('first', first);
    item.node.classList.toggle('last', last);
    item.node.classList.toggle('read', item.id <= room.seenUpTo);
    const name = item.node.querySelector('.name');
    if (name) name.hidden = !first;
    const day = dayOf(item.date);
    if (days.at(-1)?.day !== day) days.push({ day, nodes: [dayPill(room, day, item.date)] });
    days.at(-1).nodes.push(item.node);
  });
  const sections = days.map(({ day, nodes }) => { reconcile(room.days.get(day).section, nodes); return room.days.get(day).section; });
  if (!items.length) sections.push(room.hints ??= emptyState(room));
  reconcile($('items'), sections);
}
function dayPill(room, day, date) {
  if (!room.days.has(day)) room.days.set(day, { section: el('section.day'), pill: el('div.pill.date') });
  const { pill } = room.days.get(day);
  pill.textContent = dayName(date);
  return pill;
}
/** The end of the talk. The card that stands in an empty chat stays where its reader has scrolled to. */
const toBottom = () => { if (state.open?.messages.size) $('log').scrollTop = $('log').scrollHeight; };
/** A date that sticks to the top covers text: it shows only while one scrolls. */
function paintDates() {
  const top = $('log').getBoundingClientRect().top;
  for (const { section, pill } of state.open?.days.values() ?? []) pill.classList.toggle('stuck', section.getBoundingClientRect().top < top);
}
function paintDown() {
  const count = unread(state.open);
  $('down').classList.toggle('off', stick);
  $('down').lastChild.hidden = !count;
  $('down').lastChild.textContent = count;
}
function jumpTo(room, id) {
  const node = room.nodes.get(id)?.node;
  if (!node?.isConnected) return toast('That message is not here any more');
  stick = false;
  schedule();
  node.scrollIntoView({ block: 'center', behavior: calm.matches ? 'auto' : 'smooth' });
  node.classList.remove('flash');
  requestAnimationFrame(() => node.classList.add('flash'));
  setTimeout(() => node.classList.remove('flash'), 1700);
}
function announce(text) { $('live').textContent = text; }

/** What to try here. The group's last one shows that the bot keeps quiet when nobody speaks to it. */
function samplesOf(room) {
  const asks = languageOf(room) === 'pt'
    ? ['Mostre a formatação', 'Faça uma enquete sobre o almoço', 'Pesquise barbeiros de Sevilha', 'Compre leite', 'Lembre-me em 1 minuto de beber água', 'O que está agendado?']
    : ['Show me your formatting', 'Make a poll about lunch', 'Search the web for barbers of Seville', 'Remember to buy milk', 'Remind me in 1 minute to drink water', 'What is scheduled?'];
  if (isStranger(room) && !isLetIn(room)) return [{ text: 'Hello, may I talk to you?' }];
  if (!isGroup(room)) return [...asks, '/help'].map((text) => ({ text }));
  const at = state.bot.username;
  const samples = [...asks.map((text) => ({ text: `@${at} ${text}` })), { text: `/help@${at}` }];
  const other = people(room.chat).find((member) => member.id !== state.me.id);
  return other ? [...samples, { text: 'Who is free on Friday?', as: other }] : samples;
}
/** A stranger is told once that the bot is private; whatever else it says, it says to somebody who was let in. */
const isLetIn = (room) => [...room.messages.values()].filter((m) => m.from?.id === state.bot.id).length > 1;
const people = (chat) => (chat.members ?? []).filter((member) => member.id !== state.bot.id);
const strangersRoom = () => [...state.rooms.values()].find(isStranger);
function chip(room, sample) {
  return el('button.chip', { type: 'button', onclick: () => send(room, sample.text, sample.as) }, sample.text, sample.as ? el('small', null, ` — said by ${sample.as.first_name}`) : null);
}
/** The samples that were not said yet stay at hand above the composer until they are hidden. */
function paintChips(room) {
  const said = new Set([...room.messages.values()].map((m) => m.text));
  const left = samplesOf(room).filter((sample) => !said.has(sample.text));
  const mark = room.key + left.map((sample) => sample.text).join();
  $('chips').hidden = room.noChips || !left.length || !room.messages.size;
  if ($('chips').dataset.mark === mark) return;
  $('chips').dataset.mark = mark;
  $('chips').firstElementChild.replaceChildren(...left.map((sample) => chip(room, sample)));
}
