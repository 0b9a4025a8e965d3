// ── Drafts ─────────────────────────────────────────────────────────────────────────────────────────
function onDraft(d) {
  const room = roomFor(d.chat_id, d.message_thread_id);
  if (!room) return;
  const key = `${d.chat_id}:${d.draft_id}`;
  let draft = state.drafts.get(key);
  if (!draft) state.drafts.set(key, draft = newDraft(room, d, key));
  clearTimeout(draft.leaving);
  draft.node.classList.remove('ended');
  draft.stop.hidden = !d.can_stop;
  draft.blocks = d.rich_message?.blocks;
  const text = d.text ?? '';
  let same = 0;
  while (same < draft.shown && text[same] === draft.text[same]) same += 1;
  Object.assign(draft, { text, entities: d.entities ?? [], shown: calm.matches ? text.length : same, dirty: true });
  if (room.action) endAction(room);
  markSeen(room);
  schedule();
}
function newDraft(room, d, key) {
  const body = el('div.text', { dir: 'auto' });
  const stop = el('button.side.stop', { type: 'button', 'aria-label': 'Stop' }, el('span', null, 'Stop'));
  const draft = { key, room, body, stop, text: '', entities: [], shown: 0, dirty: true, date: Date.now() / 1000, leaving: 0 };
  stop.onclick = () => {
    stop.disabled = true;
    post('/demo/stop', { chat_id: d.chat_id, draft_id: d.draft_id }).catch((error) => { stop.disabled = false; toast(`Not stopped: ${error.message}`, true); });
  };
  draft.node = shell(room, state.bot, null, el('div.bubble', { 'aria-busy': 'true' }, nameLine(room, state.bot), body, stop));
  draft.node.classList.add('draft', 'enter');
  if (room === state.open) announce(`${state.bot.first_name} is writing`);
  return draft;
}
/** Shows a little more of the draft; true while there is more to come. The rest arrives within about a third of a second. */
function growDraft(draft) {
  if (!draft.dirty) return false;
  const left = draft.text.length - draft.shown;
  draft.shown += Math.min(left, Math.max(2, Math.ceil(left / 8)));
  // Never between the halves of a surrogate pair.
  if (/[\uD800-\uDBFF]/.test(draft.text[draft.shown - 1] ?? '')) draft.shown += 1;
  draft.shown = Math.min(draft.shown, draft.text.length);
  draft.dirty = draft.shown < draft.text.length;
  const room = draft.room;
  draft.body.classList.toggle('rich', Boolean(draft.blocks));
  if (draft.blocks) {
    const ghost = el('span.meta.ghost', { 'aria-hidden': 'true' }, el('time', null, time(draft.date)));
    draft.body.replaceChildren(...blocksOf(room, draft.blocks), ghost);
    return false;
  }
  if (!draft.text) {
    draft.body.replaceChildren('Thinking', el('span.dots', { 'aria-hidden': 'true' }, el('i'), el('i'), el('i')));
    return false;
  }
  const ghost = el('span.meta.ghost', { 'aria-hidden': 'true' }, el('time', null, time(draft.date)));
  draft.body.replaceChildren(rich(room, draft.text, draft.entities, draft.shown), ghost);
  let end = draft.body;
  if (ghost.previousSibling?.matches?.('.pre, blockquote')) end = ghost.previousSibling.querySelector('code, .inner') ?? ghost.previousSibling;
  end.insertBefore(el('span.caret'), end === draft.body ? ghost : null);
  return draft.dirty;
}
/** The final message usually follows at once and takes the draft's place; only a draft without one goes by itself. */
function onDraftGone({ chat_id, draft_id }) {
  const draft = state.drafts.get(`${chat_id}:${draft_id}`);
  if (!draft) return;
  draft.node.classList.add('ended');
  draft.leaving = setTimeout(() => { state.drafts.delete(draft.key); schedule(); }, 700);
}
const draftsOf = (room) => [...state.drafts.values()].filter((draft) => draft.room === room);
