// ── Rich messages ──────────────────────────────────────────────────────────────────────────────────
/** The blocks of a rich message as nodes. */
const blocksOf = (room, blocks) => (blocks ?? []).map((block) => blockOf(room, block));
function blockOf(room, block) {
  const inner = () => blocksOf(room, block.blocks);
  switch (block.type) {
    case 'heading': return el(`h${Math.min(6, block.size + 2)}.h${block.size}`, null, ...richOf(room, block.text));
    case 'divider': return el('hr');
    case 'mathematical_expression': return el('div.math', { dir: 'ltr' }, block.expression);
    case 'list': return bulletsOf(room, block.items);
    case 'blockquote': return el('blockquote', { dir: 'auto' }, ...inner());
    case 'expandable_blockquote': case 'pullquote': return el('blockquote', { dir: 'auto' }, ...richOf(room, block.text));
    case 'details': return el('details', { open: Boolean(block.is_open) }, el('summary', null, ...richOf(room, block.summary)), ...inner());
    case 'table': return el('div.table', { tabIndex: 0 }, el('table', null, ...block.cells.map((row) => el('tr', null, ...row.map((cell) => cellOf(room, cell))))));
    case 'pre': {
      const [node, hole] = preformatted(block.language, plainOf(block.text));
      hole.append(...richOf(room, block.text));
      return node;
    }
    default: return el('p', { dir: 'auto' }, ...richOf(room, block.text));
  }
}
function bulletsOf(room, items) {
  const isOrdered = items.some((item) => item.value != null);
  const box = (item) => (item.has_checkbox ? el('span.box', null, item.is_checked ? '☑' : '☐') : null);
  return el(isOrdered ? 'ol' : 'ul', { dir: 'auto' }, ...items.map((item) =>
    el(item.has_checkbox ? 'li.task' : 'li', { value: isOrdered ? item.value : null }, box(item), ...blocksOf(room, item.blocks))));
}
const cellOf = (room, cell) => el(cell.is_header ? 'th' : 'td', { style: `text-align: ${cell.align}`, dir: 'auto' }, ...richOf(room, cell.text));
/** Formatted text as nodes and strings. */
function richOf(room, text) {
  if (text == null) return [];
  if (typeof text === 'string') return [text];
  if (Array.isArray(text)) return text.flatMap((part) => richOf(room, part));
  if (text.type === 'mathematical_expression') return [el('span.math', { dir: 'ltr' }, text.expression)];
  const raw = plainOf(text.text);
  const [outer, hole] = wrap(room, text.type === 'url' ? { type: 'text_link', url: text.url } : text, raw);
  hole.append(...richOf(room, text.text));
  return [outer];
}
/** All words of formatted text; what a spoiler hides stays hidden. */
function plainOf(text) {
  if (typeof text !== 'object') return text ?? '';
  if (Array.isArray(text)) return text.map(plainOf).join('');
  const words = plainOf(text.text ?? text.expression ?? text.alternative_text);
  return text.type === 'spoiler' ? '▒'.repeat(words.length) : words;
}
/** All words of blocks, a line for each. */
function linesOf(blocks) {
  return (blocks ?? []).flatMap((block) => [
    plainOf(block.summary), plainOf(block.text ?? block.expression), ...linesOf(block.blocks),
    ...(block.items ?? []).flatMap((item) => linesOf(item.blocks)),
    ...(block.cells ?? []).map((row) => row.map((cell) => plainOf(cell.text)).join(' | ')),
  ]).filter(Boolean);
}
