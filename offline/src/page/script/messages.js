// ── Messages ───────────────────────────────────────────────────────────────────────────────────────
const ENVELOPE = new Set(['message_id', 'message_thread_id', 'from', 'sender_chat', 'chat', 'date', 'edit_date', 'reply_to_message', 'reply_markup',
  'is_topic_message', 'entities', 'caption', 'caption_entities', 'quote', 'via_bot', 'media_group_id', 'has_protected_content', 'forward_origin', 'reactions']);
const isService = (m) => m.text == null && !m.photo && !m.poll && !m.document && !m.dice && !m.rich_message;
function serviceText(m) {
  const who = nameOf(m.from);
  if (m.new_chat_members) return `${m.new_chat_members.map(nameOf).join(', ')} joined`;
  if (m.left_chat_member) return `${nameOf(m.left_chat_member)} left`;
  if (m.pinned_message) return `${who} pinned “${summary(m.pinned_message).slice(0, 60)}”`;
  if (m.new_chat_title) return `${who} named the chat “${m.new_chat_title}”`;
  if (m.forum_topic_created) return `${who} created the topic “${m.forum_topic_created.name}”`;
  if (m.forum_topic_edited) return `${who} changed the topic`;
  if (m.forum_topic_closed) return `${who} closed the topic`;
  if (m.forum_topic_reopened) return `${who} reopened the topic`;
  const kind = Object.keys(m).find((key) => !ENVELOPE.has(key)) ?? 'empty message';
  return `${who}: ${kind.replaceAll('_', ' ')} (not shown in the demo)${m.caption ? ` “${m.caption}”` : ''}`;
}
/** The message a reply points at, as it is now if we have it. A topic's first message is no reply. */
function quoted(room, m) {
  const target = m.reply_to_message;
  if (!target || target.forum_topic_created || (room.thread && target.message_id === room.thread)) return null;
  return room.messages.get(target.message_id) ?? target;
}
/** The node of a message, built anew only if something that it shows has changed. */
function nodeOf(room, m) {
  const had = room.nodes.get(m.message_id);
  const quote = quoted(room, m);
  const reactions = room.reactions.get(m.message_id) ?? m.reactions;
  const [votes, speaker] = [room.votes.get(m.message_id), speakerOf(room.chat).id];
  const parts = [m, quote, reactions, votes, speaker];
  if (had && parts.every((part, i) => part === had.parts[i])) return had.node;
  const node = isService(m)
    ? el('div.pill', { tabIndex: -1 }, serviceText(m))
    : shell(room, m.from ?? m.sender_chat, m, bubble(room, m, quote, reactions, had), keyboard(room, m));
  node.dataset.id = m.message_id;
  if (had?.node.contains(document.activeElement)) keepFocus(node);
  room.nodes.set(m.message_id, { parts, reactions, node });
  return node;
}
/** An edit must not throw a keyboard user out of the card whose button was just pressed. */
function keepFocus(node) {
  // Never onto another button: a second Enter must not press what took its place.
  const same = [...node.querySelectorAll('.key')].find((key) => key.dataset.key && key.dataset.key === document.activeElement.dataset.key);
  requestAnimationFrame(() => (same ?? node).focus({ preventScroll: true }));
}
/** Row, avatar and column around a bubble; `m` is missing for a draft. */
function shell(room, from, m, inside, keys) {
  const out = isOwn(room, from);
  const column = el('div.col', null, inside);
  if (keys) column.append(keys);
  const node = el(`div.msg${out ? '.out' : ''}`, { tabIndex: -1 });
  if (!out && isGroup(room)) node.append(avatar(from?.id, nameOf(from)));
  node.append(column);
  if (!m) return node;
  const side = (label, name, onclick) => el('button', { type: 'button', tabIndex: -1, title: label, 'aria-label': label, onclick }, icon(name));
  inside.append(el('div.side.tools', null, side('Reply', 'reply', () => replyTo(room, m)), side('More', 'more', (event) => openActs(room, m, event))));
  inside.ondblclick = (event) => {
    if (event.target.closest('a, button, pre, [role=button]')) return;
    getSelection().removeAllRanges();
    replyTo(room, m);
  };
  inside.oncontextmenu = (event) => { if (!event.target.closest('a')) { event.preventDefault(); openActs(room, m, event); } };
  // Where nothing hovers, a tap on a message offers what can be done with it.
  inside.onclick = (event) => { if (touch.matches && !event.target.closest('a, button, pre, [role=button]')) openActs(room, m, event); };
  return node;
}
function bubble(room, m, quote, reactions, had) {
  const text = m.text ?? m.caption;
  const meta = el('span.meta', null, m.edit_date ? el('span', null, 'edited') : null, el('time', null, time(m.date)), isOwn(room, m.from) ? icon('ticks') : null);
  const ghost = meta.cloneNode(true);
  ghost.classList.add('ghost');
  ghost.setAttribute('aria-hidden', 'true');
  const node = el('div.bubble', null, nameLine(room, m.from ?? m.sender_chat), quote ? quoteBox(room, quote) : null, media(room, m));
  if (text) {
    const entities = m.entities ?? m.caption_entities ?? [];
    node.append(el('div.text', { dir: 'auto' }, rich(room, text, entities), reactions?.length ? null : ghost));
    const lost = entities.filter((entity) => !fits(entity, text));
    if (lost.length) node.append(el('div.fault', null, `⚠ outside the text: ${lost.map((e) => `${e.type} ${e.offset}+${e.length}`).join(', ')}`));
  }
  if (m.rich_message) {
    const body = el('div.text.rich', { dir: m.rich_message.is_rtl ? 'rtl' : 'auto' }, ...blocksOf(room, m.rich_message.blocks));
    const last = body.lastChild?.localName === 'p' ? body.lastChild : body.appendChild(el('p'));
    if (!reactions?.length) last.append(ghost);
    node.append(body);
  }
  if (reactions?.length) node.append(reactionRow(room, m, reactions, ghost, had));
  else if (!text && !m.photo && !m.rich_message) (node.querySelector('.votes') ?? node.appendChild(el('div.tail'))).append(ghost);
  node.classList.toggle('bare', Boolean(m.photo) && !text && !reactions?.length);
  node.append(meta);
  return node;
}
function nameLine(room, from) {
  if (!isGroup(room) || isOwn(room, from)) return null;
  return el(`div.name.${from?.id === state.bot.id ? 't5' : tone(from?.id)}`, null, nameOf(from), from?.is_bot || from?.id === state.bot.id ? el('small', null, 'bot') : null);
}
function quoteBox(room, target, title = nameOf(target.from)) {
  const own = target.from?.id === state.bot.id ? 't5' : tone(target.from?.id);
  const box = el(`span.quote.${own}`, null, el('b.clip', null, title), el('span.clip', null, summary(target)));
  return act(box, null, () => jumpTo(room, target.message_id));
}
