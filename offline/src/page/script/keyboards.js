// ── Inline keyboards ───────────────────────────────────────────────────────────────────────────────
function keyboard(room, m) {
  const rows = m.reply_markup?.inline_keyboard;
  if (!rows?.length) return null;
  return el('div.keys', null, ...rows.map((row) => el('div', null, ...row.map((button) => keyOfBoard(room, m, button)))));
}
// Letters of Chinese, Japanese and Korean are twice as wide.
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/;
const widthOf = (word) => [...word].reduce((width, letter) => width + (WIDE.test(letter) ? 2 : 1), 0);
function keyOfBoard(room, m, button) {
  // A button is as wide as its longest word; what does not fit beside it goes below.
  const longest = Math.max(...button.text.split(/\s+/).map(widthOf));
  const style = { minWidth: `min(100%, ${longest}ch + 20px)` };
  const spec = `.key${button.style ? `.${button.style}` : ''}`;
  const mark = (name) => { const svg = icon(name); svg.classList.add('mark'); return svg; };
  if (button.url) {
    const node = link(button.url);
    node.className = spec.slice(1).replaceAll('.', ' ');
    node.append(button.text, mark('out'));
    Object.assign(node.style, style);
    return node;
  }
  const node = el(`button${spec}`, { type: 'button', dir: 'auto' }, button.text);
  Object.assign(node.style, style);
  if (button.copy_text) { node.append(mark('copy')); node.onclick = () => copy(button.copy_text.text); return node; }
  if (button.web_app) {
    node.append(mark('app'));
    node.dataset.app = button.web_app.url;
    node.ariaHasPopup = 'dialog';
    node.onclick = () => openApp(room, node, { message_id: m.message_id, url: button.web_app.url });
    return node;
  }
  if (button.callback_data == null) { node.onclick = () => toast('The demo has nothing for this button'); return node; }
  node.dataset.key = `${m.chat.id}/${m.message_id}/${button.callback_data}`;
  node.onclick = () => press(room, m, button.callback_data, node.dataset.key);
  paintBusy(node);
  return node;
}
function paintBusy(node) {
  const busy = state.busy.has(node.dataset.key);
  node.classList.toggle('busy', busy);
  node.setAttribute('aria-busy', String(busy));
  if (!busy) node.querySelector('.spin')?.remove();
  else if (!node.querySelector('.spin')) node.append(el('span.spin'));
}
function setBusy(key, busy) {
  if (busy) state.busy.add(key); else state.busy.delete(key);
  for (const node of document.querySelectorAll('.key')) if (node.dataset.key === key) paintBusy(node);
}
async function press(room, m, data, key) {
  if (state.busy.has(key)) return;
  setBusy(key, true);
  try {
    const { callback_query_id: id } = await post('/demo/press', { chat_id: m.chat.id, message_id: m.message_id, from: speakerOf(room.chat).id, data });
    state.queries.set(id, key);
    if (state.answers.has(id)) return answered(state.answers.get(id));
    // A bot must answer every press; one that does not should be seen here and not only in its log.
    setTimeout(() => { if (state.queries.delete(id)) { setBusy(key, false); toast('The bot has not answered this button', true); } }, 15000);
  } catch (error) { setBusy(key, false); toast(`Not pressed: ${error.message}`, true); }
}
function answered(answer) {
  const key = state.queries.get(answer.callback_query_id);
  if (!key) { state.answers.set(answer.callback_query_id, answer); return; }
  state.queries.delete(answer.callback_query_id);
  state.answers.delete(answer.callback_query_id);
  setBusy(key, false);
  if (answer.text) (answer.show_alert ? alertBox : toast)(answer.text);
}
