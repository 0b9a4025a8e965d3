// ── Attaching ──────────────────────────────────────────────────────────────────────────────────────
const MAX_FILE = 50 * 1024 * 1024;
const MAX_CAPTION = 1024;
// As Telegram's clients do, a photo is sent in several sizes, as JPEG, and none is larger than the last.
const SIDES = [90, 320, 800, 1280];

function attachItems() {
  const pick = (asPhoto) => () => {
    $('pick').accept = asPhoto ? 'image/*' : '';
    $('pick').onchange = () => { attach($('pick').files[0], asPhoto); $('pick').value = ''; };
    $('pick').click();
  };
  return [{ label: 'Photo', hint: 'in the sizes that Telegram makes', pick: pick(true) }, { label: 'File', hint: 'as it is', pick: pick(false) }];
}
/** Holds a file until it is sent with what is typed as its caption. */
function attach(file, asPhoto) {
  if (!file || !state.open) return;
  if (!file.size) return toast('That file is empty', true);
  if (file.size > MAX_FILE) return toast(`The demo takes files of up to ${bytes(MAX_FILE)}; this one has ${bytes(file.size)}`, true);
  stopEditing(state.open);
  state.open.attached = { file, asPhoto };
  paintComposer();
  $('input').focus();
}
const attachFirst = (files) => { if (files.length) attach(files[0], files[0].type.startsWith('image/')); return files.length > 0; };
function attachBar(room) {
  const { file, asPhoto } = room.attached;
  const close = el('button.icon', { type: 'button', 'aria-label': 'Do not send it', onclick: () => { room.attached = null; paintComposer(); $('input').focus(); } }, icon('close'));
  return [icon(asPhoto ? 'image' : 'clip'), el('span', null, el('b.clip', null, file.name || 'Photo'), el('small', null, `${asPhoto ? 'Photo' : 'File'}, ${bytes(file.size)}`)), close];
}
async function sizesOf(file) {
  const picture = await createImageBitmap(file).catch(() => { throw new Error('this is no picture that the browser can read; send it as a file'); });
  const longest = Math.max(picture.width, picture.height);
  const largest = Math.min(longest, SIDES.at(-1));
  return Promise.all([...SIDES.filter((side) => side < largest), largest].map(async (side) => {
    const [width, height] = [picture.width, picture.height].map((length) => Math.max(1, Math.round(length * side / longest)));
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff'; // JPEG has no transparency
    context.fillRect(0, 0, width, height);
    context.drawImage(picture, 0, 0, width, height);
    return { width, height, blob: await canvas.convertToBlob({ type: 'image/jpeg', quality: .87 }) };
  }));
}
/** Sends what is attached; a text too long for a caption follows as messages. */
async function sendAttached(room, { file, asPhoto }, text, reply) {
  const caption = text.length > MAX_CAPTION ? '' : text;
  const about = { chat_id: room.chat.id, message_thread_id: room.thread, from: speakerOf(room.chat).id, reply_to: reply?.message_id, caption, sizes: [] };
  stick = true;
  try {
    const sizes = asPhoto ? await sizesOf(file) : [];
    about.sizes = sizes.map(({ width, height }) => [width, height]);
    const form = new FormData();
    form.append('about', JSON.stringify(about));
    for (const { blob } of sizes) form.append('file', blob, 'photo.jpg');
    if (!asPhoto) form.append('file', file, file.name);
    await post('/demo/upload', form);
  } catch (error) { toast(`Not sent: ${error.message}`, true); return false; }
  return caption === text || send(room, text);
}
