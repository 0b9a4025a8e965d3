// ── Photos and files ───────────────────────────────────────────────────────────────────────────────
function media(room, m) {
  if (m.photo) return photo(m.photo.at(-1));
  if (m.document) {
    const name = m.document.file_name ?? 'File';
    const kind = name.includes('.') ? name.split('.').pop().slice(0, 4) : 'file';
    return el('a.file', { href: `/demo/file/${m.document.file_id}`, download: name, title: 'Save' }, el('span.kind', { 'aria-hidden': 'true' }, kind), el('div', null, el('b', null, name), el('small', null, [bytes(m.document.file_size), m.document.mime_type].filter(Boolean).join(' · '))));
  }
  if (m.dice) return el('div.dice', { role: 'img', 'aria-label': `${m.dice.emoji} shows ${m.dice.value}` }, m.dice.emoji, el('b', null, String(m.dice.value)));
  return m.poll ? pollBox(room, m) : null;
}
function bytes(size) {
  if (size == null) return '';
  const step = size < 1024 ? 0 : size < 1048576 ? 1 : 2;
  return `${(size / 1024 ** step).toFixed(step && size / 1024 ** step < 10 ? 1 : 0)} ${['B', 'KB', 'MB'][step]}`;
}
const shape = (card, width, height) => card.style.setProperty('--ratio', Math.min(2.2, Math.max(.8, width / height)));
/** A photo; one that the bot sent by its address is not here, and a drawing stands for it. */
function photo(size) {
  if (!size.file_size) {
    const card = el('div.photo', { role: 'img', 'aria-label': 'Photo' }, icon('image'), el('span', null, 'A photo by its address'));
    shape(card, size.width, size.height);
    return card;
  }
  const path = `/demo/file/${size.file_id}`;
  const image = el('img', { src: path, alt: 'Photo', draggable: false });
  const card = el('a.photo', { href: path, target: '_blank', rel: 'noopener', title: 'Open' }, image);
  shape(card, size.width, size.height);
  image.onload = () => {
    shape(card, image.naturalWidth, image.naturalHeight);
    card.parentElement.style.width = `${Math.min(400, Math.max(180, image.naturalWidth))}px`;
  };
  return card;
}
