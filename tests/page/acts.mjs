// What one does with messages, files and polls.
import { deflateSync } from 'node:zlib';

/** A message of one's own at the end of the talk. */
async function own(view, text) {
  await view.say(text);
  return view.page.evaluate((text) => Math.max(...[...document.querySelectorAll('#items .msg.out[data-id]')]
    .filter((node) => node.innerText.startsWith(text)).map((node) => Number(node.dataset.id))), text);
}
const item = (menu, name) => menu.getByRole('menuitem', { name, exact: true });

export async function acts(view) {
  const { page } = view;
  const id = await own(view, 'frist');
  let menu = await view.acts(id);
  await view.picture('menu');
  await view.changes('Edit', () => item(menu, 'Edit').click());
  await page.locator('#input').fill('first');
  await view.changes('an edit', () => page.locator('#send').click());
  await page.waitForFunction((id) => /first[\s\S]*edited/.test(document.querySelector(`[data-id="${id}"]`).innerText), id);
  await view.settled();

  menu = await view.acts(id);
  await view.changes('Reply', () => item(menu, 'Reply').click());
  await view.changes('Do not reply', () => page.getByLabel('Do not reply').click());
  menu = await view.acts(id);
  await view.changes('Copy text', () => item(menu, 'Copy text').click());
  for (const emoji of ['👍', '🔥']) {
    menu = await view.acts(id);
    await view.changes(emoji, () => menu.getByRole('menuitemradio', { name: `React with ${emoji}` }).click());
  }
  await page.waitForFunction((id) => [...document.querySelectorAll(`[data-id="${id}"] .re`)].map((node) => node.innerText.trim().slice(0, 2)).join() === '🔥', id);
  await view.picture('reaction');
  await view.changes('the reaction itself', () => view.bubble(id).locator('.re').click());

  menu = await view.acts(id);
  await item(menu, 'Delete').click();
  await view.picture('delete');
  await view.changes('Cancel', () => page.locator('#ask').getByText('Cancel').click());
  menu = await view.acts(id);
  await item(menu, 'Delete').click();
  await view.changes('Delete', () => page.locator('#ask [value=yes]').click());
  await view.bubble(id).waitFor({ state: 'detached' });

  // The last message can be edited by the arrow; Escape leaves it as it is.
  await own(view, 'one more');
  await page.locator('#input').focus();
  await view.changes('the arrow up', () => page.keyboard.press('ArrowUp'));
  await view.changes('Escape', () => page.keyboard.press('Escape'));
}

/** A question of the bot that wants a reply opens the composer with it, until it is answered or closed. */
export async function asked(view) {
  const { page } = view;
  const [bar, input] = [page.locator('#replybar'), page.locator('#input')];
  const opens = async () => {
    const card = await view.say('/persona');
    await view.changes('Write my own', () => view.bubble(card).getByText('Write my own').click());
    await bar.waitFor();
    await view.settled();
    if (!/^Reply to Figaro/.test(await bar.innerText())) view.fault(`the reply bar says ${await bar.innerText()}`);
    if (await input.getAttribute('placeholder') === 'Message') view.fault('no placeholder for the reply');
    if (!/^Reply to Figaro/.test(await input.getAttribute('aria-label'))) view.fault('the input does not say that it replies');
  };
  await opens();
  view.closing = true; // the stream of the page before ends with it
  await page.reload();
  view.closing = false;
  await bar.waitFor();
  if (!/^Reply to Figaro/.test(await bar.innerText())) view.fault('the page forgets the open reply');
  await view.settled();
  await view.picture('asked');
  await view.changes('Escape', () => page.keyboard.press('Escape'));
  if (await bar.isVisible() || await input.getAttribute('placeholder') !== 'Message') view.fault('Escape leaves the reply open');
  await opens();
  await view.changes('Do not reply', () => page.getByLabel('Do not reply').click());
  await opens();
  const answer = await view.say('Pirate: talk like one');
  if (await bar.isVisible()) view.fault('the reply bar stays after the reply');
  const quoted = await page.locator('#items .msg.out .quote').last().innerText();
  if (!/Figaro/.test(quoted)) view.fault(`the answer is no reply: ${quoted}`);
  await view.look(`an answer to a question (${answer})`);
}

/** A PNG of stripes, so large that several sizes are made of it. */
function png(width, height) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const crc = (bytes) => {
    let sum = ~0;
    for (const byte of bytes) { sum ^= byte; for (let i = 0; i < 8; i += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0); }
    return ~sum >>> 0;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const colours = [[200, 30, 45], [255, 255, 255], [30, 60, 160]];
  const row = (y) => [0, ...Array.from({ length: width }, (_, x) => colours[Math.floor((x + y) / 60) % 3]).flat()];
  const pixels = deflateSync(Buffer.from(Array.from({ length: height }, (_, y) => row(y)).flat()));
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

/** Chooses a file by the paperclip. */
async function choose(view, label, file) {
  await view.changes('Attach', () => view.page.locator('#attach').click());
  const chooser = view.page.waitForEvent('filechooser');
  await view.page.locator('#menu .option').filter({ hasText: label }).click();
  await (await chooser).setFiles(file);
  await view.page.locator('#attachbar').waitFor();
}

export async function files(view) {
  const { page } = view;
  const picture = { name: 'stripes.png', mimeType: 'image/png', buffer: png(1500, 900) };
  await choose(view, 'Photo', picture);
  await view.picture('attached');
  await view.changes('Do not send it', () => page.getByLabel('Do not send it').click());

  await choose(view, 'Photo', picture);
  await view.say('What is this?');
  await page.waitForFunction(() => [...document.querySelectorAll('.msg.out .photo img')].some((image) => image.naturalWidth === 1280));
  await view.picture('photo');

  await choose(view, 'File', { name: 'pri ces?#%.csv', mimeType: 'text/csv', buffer: Buffer.from('cut,20\n') });
  await view.say('And this?');
  const saved = page.waitForEvent('download');
  await page.locator('.msg.out a.file').last().click();
  if ((await saved).suggestedFilename().replaceAll('_', '?') !== 'pri ces?#%.csv') view.fault(`saved as ${(await saved).suggestedFilename()}`);
  await view.picture('file');

  // What cannot be sent is said in words, and nothing is lost.
  view.expectsRefusal = true;
  await choose(view, 'Photo', { name: 'no.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await view.changes('a photo that is none', () => page.locator('#send').click());
  await view.picture('refusal');
  if (await page.locator('#down:not(.off)').count()) view.fault('a toast leads away from the end of the talk');
  if (!/send it as a file/.test(await page.locator('.toast').first().innerText())) view.fault('a refusal that says nothing');
  await page.keyboard.press('Escape');
  view.expectsRefusal = false;

  // What the bot sends is shown too.
  await view.say('photo');
  await page.waitForFunction(() => [...document.querySelectorAll('.msg:not(.out) .photo img')].every((image) => image.naturalWidth > 0));
  await view.say('file');
  await view.picture('from-the-bot');
}

export async function polls(view) {
  const { page } = view;
  await view.say('poll Lunch? Soup, salad, pizza');
  const poll = page.locator('.poll').last();
  await view.picture('poll');
  await view.changes('a vote', () => poll.locator('.choice').nth(1).click());
  await poll.locator('.result').first().waitFor();
  if (!/100%/.test(await poll.innerText())) view.fault(`no result: ${await poll.innerText()}`);
  await view.picture('voted');
  await view.changes('Retract vote', () => poll.locator('.cast').click());
  await poll.locator('.choice').first().waitFor();
}
