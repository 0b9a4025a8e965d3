// ── Messages ───────────────────────────────────────────────────────────────────────────────────────
const ENVELOPE = new Set(['message_id', 'message_thread_id', 'from', 'sender_chat', 'chat', 'date', 'edit_date', 'reply_to_message', 'reply_markup',
  'is_topic_message', 'entities', 'caption', 'caption_entities', 'quote', 'via_bot', 'media_group_id', 'has_protected_content', 'forward_origin', 'reactions']);
const isService = (m) => m.text == null && !m.photo && !m.poll && !m.document && !m.dice;
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
  if (had && had.m === m && had.quote === quote && had.reactions === reactions) return had.node;
  const node = isService(m)
    ? el('div.pill', { tabIndex: -1 }, serviceText(m))
    : shell(room, m.from ?? m.sender_chat, m, bubble(room, m, quote, reactions, had), keyboard(room, m));
  node.dataset.id = m.message_id;
  if (had?.node.contains(document.activeElement)) keepFocus(node);
  room.nodes.set(m.message_id, { m, quote, reactions, node });
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
  const out = from?.id === state.me.id;
  const column = el('div.col', null, inside);
  if (keys) column.append(keys);
  const node = el(`div.msg${out ? '.out' : ''}`, { tabIndex: -1 });
  if (!out && isGroup(room)) node.append(avatar(from?.id, nameOf(from)));
  node.append(column);
  if (!m) return node;
  const reply = el('button.side.reply', { type: 'button', tabIndex: -1, title: 'Reply', 'aria-label': 'Reply', onclick: () => replyTo(room, m) }, icon('reply'));
  inside.append(reply);
  inside.ondblclick = (event) => {
    if (event.target.closest('a, button, pre, [role=button]')) return;
    getSelection().removeAllRanges();
    replyTo(room, m);
  };
  longPress(inside, () => replyTo(room, m));
  return node;
}
function longPress(node, run) {
  let timer;
  const stop = () => clearTimeout(timer);
  node.addEventListener('touchstart', () => { stop(); timer = setTimeout(run, 480); }, { passive: true });
  for (const name of ['touchend', 'touchmove', 'touchcancel']) node.addEventListener(name, stop, { passive: true });
}
function bubble(room, m, quote, reactions, had) {
  const text = m.text ?? m.caption;
  const meta = el('span.meta', null, m.edit_date ? el('span', null, 'edited') : null, el('time', null, time(m.date)), m.from?.id === state.me.id ? icon('ticks') : null);
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
  if (reactions?.length) node.append(reactionRow(reactions, ghost, had));
  else if (!text && !m.photo) (node.querySelector('.votes') ?? node.appendChild(el('div.tail'))).append(ghost);
  node.classList.toggle('bare', Boolean(m.photo) && !text && !reactions?.length);
  node.append(meta);
  return node;
}
function nameLine(room, from) {
  if (!isGroup(room) || from?.id === state.me.id) return null;
  return el(`div.name.${from?.id === state.bot.id ? 't5' : tone(from?.id)}`, null, nameOf(from), from?.is_bot || from?.id === state.bot.id ? el('small', null, 'bot') : null);
}
function quoteBox(room, target) {
  const own = target.from?.id === state.bot.id ? 't5' : tone(target.from?.id);
  const box = el(`span.quote.${own}`, null, el('b.clip', null, nameOf(target.from)), el('span.clip', null, summary(target)));
  return act(box, null, () => jumpTo(room, target.message_id));
}
function media(room, m) {
  if (m.photo) {
    const size = m.photo.at?.(-1) ?? {};
    const card = el('div.photo', { role: 'img', 'aria-label': 'Photo' }, icon('image'), size.width ? `${size.width} × ${size.height}` : 'Photo');
    if (size.width) card.style.setProperty('--ratio', Math.min(2.2, Math.max(.8, size.width / size.height)));
    return card;
  }
  if (m.document) {
    const name = m.document.file_name ?? 'File';
    const kind = name.includes('.') ? name.split('.').pop().slice(0, 4) : 'file';
    return el('div.file', null, el('span.kind', { 'aria-hidden': 'true' }, kind), el('div', null, el('b', null, name), el('small', null, [bytes(m.document.file_size), m.document.mime_type].filter(Boolean).join(' · '))));
  }
  if (m.dice) return el('div.dice', { role: 'img', 'aria-label': `${m.dice.emoji} shows ${m.dice.value}` }, m.dice.emoji, el('b', null, String(m.dice.value)));
  return m.poll ? pollBox(room, m.poll) : null;
}
function bytes(size) {
  if (size == null) return '';
  const step = size < 1024 ? 0 : size < 1048576 ? 1 : 2;
  return `${(size / 1024 ** step).toFixed(step && size / 1024 ** step < 10 ? 1 : 0)} ${['B', 'KB', 'MB'][step]}`;
}
function pollBox(room, poll) {
  const total = poll.total_voter_count ?? 0;
  const right = poll.correct_option_ids ?? [poll.correct_option_id];
  const options = (poll.options ?? []).map((option, i) => {
    const share = total ? Math.round((option.voter_count ?? 0) / total * 100) : 0;
    const row = el(`li${right.includes(i) ? '.right' : ''}`, null, total ? el('em', null, `${share}%`) : el('i', { 'aria-hidden': 'true' }), el('span', null, rich(room, option.text, option.text_entities)));
    if (total) { row.append(el('u')); row.lastChild.style.setProperty('--share', `${share}%`); }
    return row;
  });
  const kind = [poll.is_closed ? 'Final results' : poll.is_anonymous === false ? 'Public' : 'Anonymous', poll.type === 'quiz' ? 'quiz' : 'poll'];
  return el('div.poll', null, el('b.text', null, rich(room, poll.question ?? '', poll.question_entities)),
    el('small', null, (poll.is_closed ? kind[0] : kind.join(' ')) + (poll.allows_multiple_answers ? ' · several answers' : '')),
    el('ul', null, ...options), el('span.votes', null, total ? `${total} vote${total > 1 ? 's' : ''}` : 'No votes yet'));
}
function reactionRow(reactions, ghost, had) {
  const counts = new Map();
  for (const reaction of reactions) counts.set(reaction.emoji ?? '★', (counts.get(reaction.emoji ?? '★') ?? 0) + 1);
  const old = new Set((had?.reactions ?? []).map((reaction) => reaction.emoji));
  const chips = [...counts].map(([emoji, count]) => el(`span.re${had && !old.has(emoji) ? '.pop' : ''}`, { title: state.bot.first_name }, emoji, count > 1 ? String(count) : avatar(state.bot.id, '')));
  return el('div.reactions', { 'aria-label': 'Reactions' }, ...chips, ghost);
}
