// ── Formatted text ─────────────────────────────────────────────────────────────────────────────────
// Offsets count UTF-16 units, as JS strings do. Entities nest; where they merely overlap, the inner one is split.
const PLAIN_TAGS = { bold: 'strong', italic: 'em', underline: 'u', strikethrough: 's' };
const BLOCKS = new Set(['pre', 'blockquote', 'expandable_blockquote']);
const byOffset = (a, b) => a.offset - b.offset || b.length - a.length;
const fits = (entity, text) => entity.offset >= 0 && entity.length > 0 && entity.offset + entity.length <= text.length;

/** The text up to `upTo` as nodes. `room` is where a clicked command goes. */
function rich(room, text, entities = [], upTo = text.length) {
  const spans = entities.filter((entity) => fits(entity, text) && entity.offset < upTo)
    .map((entity) => ({ ...entity, length: Math.min(entity.length, upTo - entity.offset) }));
  const root = document.createDocumentFragment();
  fill(root, room, text, 0, upTo, spans.sort(byOffset));
  return root;
}
function fill(parent, room, text, from, to, spans) {
  let at = from;
  let afterBlock = false;
  const plain = (end) => {
    // The line break after a block is the block's own end, not an empty line.
    if (afterBlock && text[at] === '\n' && at < end) at += 1;
    if (at < end) { parent.append(text.slice(at, end)); afterBlock = false; }
    at = end;
  };
  for (let queue = spans; queue.length;) {
    const [entity, ...others] = queue;
    const end = entity.offset + entity.length;
    const inner = [], later = [];
    for (const other of others) {
      const stop = other.offset + other.length;
      if (other.offset < end) inner.push({ ...other, length: Math.min(stop, end) - other.offset });
      if (stop > end) later.push(other.offset >= end ? other : { ...other, offset: end, length: stop - end });
    }
    plain(entity.offset);
    const [outer, hole] = wrap(room, entity, text.slice(entity.offset, end));
    fill(hole, room, text, entity.offset, end, inner);
    parent.append(outer);
    at = end;
    afterBlock = BLOCKS.has(entity.type);
    queue = later.sort(byOffset);
  }
  plain(to);
}
/** The element of one entity, and the place inside it where its text goes. */
function wrap(room, entity, raw) {
  const twin = (node) => [node, node];
  switch (entity.type) {
    case 'spoiler': return spoiler();
    case 'blockquote': return twin(el('blockquote', { dir: 'auto' }));
    case 'expandable_blockquote': return foldable(raw);
    case 'pre': return preformatted(entity.language, raw);
    case 'text_link': return twin(link(entity.url));
    case 'url': return twin(link(/^[a-z][a-z0-9+.-]*:/i.test(raw) ? raw : `https://${raw}`));
    case 'email': return twin(link(`mailto:${raw}`));
    case 'bot_command': return twin(act(el('span.link'), null, () => send(room, isGroup(room) && !raw.includes('@') ? `${raw}@${state.bot.username}` : raw)));
    case 'code': return twin(act(el('code'), null, () => insert(isGroup(room) && !/^[@/]/.test(raw) && !$('input').value ? `@${state.bot.username} ${raw}` : raw)));
    case 'mention': return twin(act(el('span.link'), null, () => insert(`${raw} `)));
    case 'text_mention': return twin(el('span.link', { title: nameOf(entity.user) }));
    default: return twin(el(PLAIN_TAGS[entity.type] ?? 'span'));
  }
}
function link(target) {
  const url = URL.canParse(target) ? new URL(target) : null;
  if (!url || !['http:', 'https:', 'tg:', 'mailto:'].includes(url.protocol)) return el('span', { title: 'Not a link Telegram would open' });
  const code = isOfBot(url) ? url.searchParams.get('start') : null;
  if (code) return act(el('span.link', { title: url.href }), null, () => startBot(code));
  return el('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer', title: url.href });
}
const isOfBot = ({ hostname, pathname }) => hostname === 't.me' && pathname.slice(1).toLowerCase() === state.bot.username.toLowerCase();
/** What Telegram does with a link to a bot: opens the private chat of whoever speaks, and sends the code. */
function startBot(code) {
  const room = state.rooms.get(keyOf(speakerOf(state.open.chat).id)) ?? state.rooms.get(keyOf(state.me.id));
  go(room.key);
  send(room, `/start ${code}`);
}
function spoiler() {
  const hole = el('span');
  const node = el('span.spoiler', null, hole);
  act(node, 'Hidden text, press to show', () => {
    for (const each of node.closest('.text').querySelectorAll('.spoiler:not(.open)')) {
      each.classList.add('open');
      for (const name of ['role', 'tabindex', 'aria-label']) each.removeAttribute(name);
      each.onclick = each.onkeydown = null;
    }
  });
  return [node, hole];
}
function foldable(raw) {
  const hole = el('div.inner');
  const node = el('blockquote', { dir: 'auto' }, hole);
  if (raw.length < 150 && raw.split('\n').length <= 3) return [node, hole];
  const more = el('button.more', { type: 'button', 'aria-expanded': 'false' }, 'Show more');
  node.classList.add('fold');
  more.onclick = node.onclick = (event) => {
    const open = node.classList.contains('open');
    if (open && event.currentTarget === node) return; // so that open text can be selected
    event.stopPropagation();
    node.classList.toggle('open', !open);
    more.setAttribute('aria-expanded', String(!open));
    more.textContent = open ? 'Show more' : 'Show less';
  };
  node.append(more);
  return [node, hole];
}
function preformatted(language, raw) {
  const hole = el('code');
  const button = el('button', { type: 'button', onclick: () => copy(raw), 'aria-label': 'Copy the code' }, icon('copy'), 'Copy');
  return [el('div.pre', null, el('div', null, el('span', null, language || 'code'), button), el('pre', { tabIndex: 0 }, hole)), hole];
}
/** One line for lists, quotes and screen readers; what a spoiler hides stays hidden. */
function summary(m) {
  if (isService(m)) return serviceText(m);
  if (m.rich_message) return linesOf(m.rich_message.blocks).join(' ').slice(0, 300);
  const text = m.text ?? m.caption ?? '';
  const units = text.split('');
  for (const entity of m.entities ?? m.caption_entities ?? []) {
    if (entity.type === 'spoiler' && fits(entity, text)) units.fill('▒', entity.offset, entity.offset + entity.length);
  }
  const kind = m.photo ? '🖼 Photo' : m.poll ? `📊 ${m.poll.question}` : m.document ? `📎 ${m.document.file_name ?? 'File'}` : m.dice ? `${m.dice.emoji} ${m.dice.value}` : '';
  return [kind, units.join('').slice(0, 300).replace(/\s+/g, ' ')].filter(Boolean).join(', ');
}
