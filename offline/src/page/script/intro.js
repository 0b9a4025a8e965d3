// ── What an empty chat says ────────────────────────────────────────────────────────────────────────
function emptyState(room) {
  const chips = samplesOf(room).map((sample) => chip(room, sample));
  if (isStranger(room)) return strangersIntro(room, chips);
  if (isGroup(room)) {
    const hint = `In a group ${state.bot.first_name} answers when it is spoken to: with @${state.bot.username}, a reply or a command.`;
    return el('div.empty', null, avatar(state.bot.id, ''), el('h2', null, `Say hello to ${state.bot.first_name}`), el('p', null, hint), el('div.tries', null, ...chips));
  }
  const { real, stand_in: standIn, notice } = state.about;
  return el('div.empty', null, avatar(state.bot.id, ''), el('h2', null, `Say hello to ${state.bot.first_name}`),
    el('dl', null, el('dt', null, 'Real'), el('dd', null, `${real}.`), el('dt', null, 'Stand-ins'), el('dd', null, `${standIn}.`)),
    el('p', null, `${notice} Write something, or tap one of these:`), el('div.tries', null, ...chips), el('div.tries', null, ...introActs()));
}
/** What a text cannot show. */
function introActs() {
  const item = (label, name, onclick) => el('button.chip', { type: 'button', onclick }, icon(name), label);
  const [asPhoto, asFile] = attachItems();
  const stranger = strangersRoom();
  return [item('Send a photo', 'image', asPhoto.pick), item('Send a file', 'clip', asFile.pick), stranger ? item('Speak as a stranger', 'out', () => go(stranger.key)) : null].filter(Boolean);
}
function strangersIntro(room, chips) {
  const [name, owner] = [meIn(room).first_name, state.me.first_name];
  return el('div.empty', null, avatar(meIn(room).id, name), el('h2', null, `You are ${name} now`),
    el('p', null, `${state.bot.first_name} belongs to ${owner} and does not know ${name}. Write to it, then go back and see what ${owner} can do.`),
    el('div.tries', null, ...chips), el('button.chip', { type: 'button', onclick: goHome }, `Back to ${owner}`));
}
const goHome = () => go(keyOf(state.me.id));
/** The line that says whom one speaks as, in the chat of another person. */
function paintStranger(room) {
  $('stranger').hidden = !isStranger(room);
  if (!isStranger(room)) return;
  $('stranger').firstChild.textContent = `You write as ${nameOf(meIn(room))}, not as ${nameOf(state.me)}.`;
  $('stranger').lastChild.textContent = `Back to ${state.me.first_name}`;
}
