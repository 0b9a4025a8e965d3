// ── Polls ──────────────────────────────────────────────────────────────────────────────────────────
/** A poll as whoever speaks here sees it: the options to choose from, and once they have voted, the results. */
function pollBox(room, m) {
  const { poll } = m;
  const mine = room.votes.get(m.message_id)?.[speakerOf(room.chat).id] ?? [];
  const total = poll.total_voter_count ?? 0;
  const isOpen = !poll.is_closed && !mine.length;
  const kind = [poll.is_closed ? 'Final results' : poll.is_anonymous === false ? 'Public' : 'Anonymous', poll.type === 'quiz' ? 'quiz' : 'poll'];
  const options = poll.options.map((option, i) => {
    const text = el('span.text', { dir: 'auto' }, rich(room, option.text, option.text_entities));
    return el('li', null, isOpen ? choice(room, m, i, text) : result(poll, option, i, mine, text));
  });
  return el('div.poll', null, el('b.text', null, rich(room, poll.question ?? '', poll.question_entities)),
    el('small', null, (poll.is_closed ? kind[0] : kind.join(' ')) + (poll.allows_multiple_answers ? ' · several answers' : '')),
    el('ul', null, ...options), isOpen ? ballotButton(room, m) : retraction(room, m, mine),
    el('span.votes', null, total ? `${total} vote${total > 1 ? 's' : ''}` : 'No votes yet'));
}
function choice(room, m, i, text) {
  const several = m.poll.allows_multiple_answers;
  const ballot = room.ballots.get(m.message_id) ?? new Set();
  const node = el(`button.choice${several ? '.several' : ''}`, { type: 'button', 'aria-pressed': String(ballot.has(i)) }, el('i', { 'aria-hidden': 'true' }), text);
  node.onclick = () => {
    if (!several) return vote(room, m, [i]);
    if (!ballot.delete(i)) ballot.add(i);
    room.ballots.set(m.message_id, ballot);
    node.setAttribute('aria-pressed', String(ballot.has(i)));
    node.closest('.poll').querySelector('.cast').disabled = !ballot.size;
  };
  return node;
}
function result(poll, option, i, mine, text) {
  const share = poll.total_voter_count ? Math.round((option.voter_count ?? 0) / poll.total_voter_count * 100) : 0;
  const right = poll.correct_option_ids ?? [];
  const state = right.includes(i) ? '.right' : right.length && mine.includes(i) ? '.wrong' : '';
  const bar = el('u');
  bar.style.setProperty('--share', `${share}%`);
  const node = el(`div.result${state}`, null, el('em', null, `${share}%`), text, bar);
  if (mine.includes(i)) node.append(el('span.mine', { title: 'Your vote' }, icon('check'), el('span.sr', null, 'your vote')));
  return node;
}
function ballotButton(room, m) {
  if (!m.poll.allows_multiple_answers) return null;
  const ballot = room.ballots.get(m.message_id) ?? new Set();
  return el('button.cast', { type: 'button', disabled: !ballot.size, onclick: () => vote(room, m, [...room.ballots.get(m.message_id) ?? []].sort((a, b) => a - b)) }, 'Vote');
}
function retraction(room, m, mine) {
  if (m.poll.is_closed || !mine.length || m.poll.allows_revoting === false) return null;
  return el('button.cast', { type: 'button', onclick: () => vote(room, m, []) }, 'Retract vote');
}
async function vote(room, m, options) {
  try {
    await post('/demo/vote', { chat_id: m.chat.id, message_id: m.message_id, from: speakerOf(room.chat).id, options });
    room.ballots.delete(m.message_id);
  } catch (error) { toast(`Not counted: ${error.message}`, true); }
}
function onVotes({ chat_id, message_id, votes }) {
  const room = roomOfMessage(chat_id, message_id);
  if (!room) return;
  room.votes.set(message_id, votes ?? {});
  schedule();
}
