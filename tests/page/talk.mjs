// What is said: suggestions, long texts, groups, a stranger; and what stands around the talk.

/** Every suggestion of the open chat, first from the card of the empty chat, then from above the composer. */
async function every(view, where) {
  const { page } = view;
  await page.locator('.empty').waitFor();
  await view.picture(`${where}-empty`);
  const said = [];
  for (;;) {
    const isFirst = !said.length;
    const chip = page.locator(isFirst ? '.empty .tries .chip' : '#chips .chip').first();
    if (!await chip.isVisible().catch(() => false)) return said;
    const text = await chip.innerText();
    const last = await view.lastId();
    await chip.click();
    said.push(text);
    if (/said by/.test(text)) await view.settled(); // nobody speaks to the bot: it keeps quiet
    else if (/search/i.test(text)) await searching(view, last);
    else await view.answer(last, text);
    await view.look(text);
  }
}

/** The line that says what the bot is doing is there for a moment, though the search is a stand-in. */
async function searching(view, last) {
  const isPrivate = await view.page.evaluate(() => !location.hash.includes('-'));
  const shown = await view.page.locator('#items', { hasText: '🔎' }).waitFor({ timeout: 15_000 }).then(() => true, () => false);
  if (!shown && isPrivate) view.fault('no 🔎 during a search');
  if (shown) await view.picture(`searching${isPrivate ? '' : '-group'}`);
  await view.answer(last, 'a search');
}

export async function suggestions(view) {
  const { page } = view;
  const card = page.locator('.empty');
  const words = await card.innerText();
  for (const part of ['Real', 'the bot, its store and its tools', 'Stand-ins', 'Telegram (this page)', 'nothing leaves this machine']) {
    if (!words.includes(part)) view.fault(`the first card does not say “${part}”`);
  }
  for (const label of ['Send a photo', 'Send a file']) {
    const chooser = page.waitForEvent('filechooser', { timeout: 10_000 }).catch(() => view.fault(`${label} offers no file`));
    await card.getByText(label).click();
    await chooser;
  }
  await view.changes('Speak as a stranger', () => card.getByText('Speak as a stranger').click());
  await view.changes('Back', () => page.locator('#stranger button').click());
  const said = await every(view, 'private');
  if (said.length < 7) view.fault(`few suggestions: ${said}`);
  // Whatever a text offers to press.
  for (const [what, selector] of [['a spoiler', '.spoiler:not(.open)'], ['Show more', '.text blockquote .more'], ['Copy', '.text .pre button']]) {
    const node = page.locator(selector).first();
    if (await node.count()) await view.changes(what, () => node.click());
  }
  const command = page.locator('.text .link').first();
  if (await command.count()) {
    const last = await view.lastId();
    await view.changes('a command in a text', () => command.click());
    await view.answer(last, 'a command in a text');
  }
}

export async function composer(view) {
  const { page } = view;
  const input = page.locator('#input');
  await input.fill('/');
  await page.locator('#menu .option').first().waitFor();
  const last = await view.lastId();
  await input.press('Enter');
  await page.waitForTimeout(500);
  if (await view.lastId() !== last || await input.inputValue() !== '/') view.fault('a slash alone is sent');
  if (await page.locator('#send').isEnabled()) view.fault('a slash alone can be sent');
  await view.picture('slash');
  await input.press('ArrowDown');
  await input.press('Tab');
  if (!/^\/\w+ $/.test(await input.inputValue())) view.fault(`Tab makes “${await input.inputValue()}”`);
  await input.fill('');
  await view.changes('the commands', () => page.locator('#slash').click());
  await view.changes('the commands again', () => page.locator('#slash').click());

  const long = Array.from({ length: 1300 }, (_, i) => `word${i}`).join(' ');
  await input.fill(long);
  await view.picture('long');
  await view.say(long);
  const parts = await page.evaluate((last) => [...document.querySelectorAll('#items .msg.out[data-id]')].filter((node) => node.dataset.id > last).map((node) => node.querySelector('.text').firstChild.data), last);
  if (parts.length < 3 || parts.join(' ') !== long) view.fault(`a long text comes as ${parts.map((part) => part.length)}`);

  // An answer that is stopped half way stays as far as it came.
  await view.say('slow', false);
  const stop = page.locator('.side.stop');
  await stop.waitFor();
  await page.waitForFunction(() => /\w{4}/.test(document.querySelector('.draft .text')?.innerText ?? '') && !/Thinking/.test(document.querySelector('.draft .text').innerText));
  await view.changes('Stop', () => stop.click());
  await view.settled();

  // A refusal is words.
  view.expectsRefusal = true;
  await page.route('**/demo/send', (route) => route.fulfill({ status: 400, json: { error: 'this is a reason' } }), { times: 1 });
  await input.fill('refused');
  await view.changes('a refusal', () => page.locator('#send').click());
  const toast = await page.locator('.toast').first().innerText();
  if (toast !== 'Not sent: this is a reason' || await input.inputValue() !== 'refused') view.fault(`a refusal shows ${toast}`);
  await input.fill('');
  view.expectsRefusal = false;

  // The menu and the examples are in the language of the chat.
  await view.say('/config language Português');
  await input.fill('/');
  await page.locator('#menu .option', { hasText: 'suas listas' }).waitFor();
  await input.fill('');
  const chips = await page.locator('#chips .chip').allInnerTexts();
  if (!chips.includes('O que está agendado?')) view.fault(`the examples are not Portuguese: ${chips}`);
  await view.say('/config language clear');

  // A tap on an example writes it, and a link to the bot stays in the page.
  await view.say('help');
  await page.locator('.text code', { hasText: /^format$/ }).last().click();
  if (await input.inputValue() !== 'format') view.fault(`a tap on an example writes “${await input.inputValue()}”`);
  await input.fill('');
  await view.say('/allow code');
  const before = await view.lastId();
  await view.changes('a link to the bot', () => page.locator('.text .link', { hasText: 't.me' }).last().click());
  await view.answer(before, 'a link to the bot');
}

export async function groups(view) {
  const { page } = view;
  await view.openRoom('Lunch club');
  await page.locator('#chips .chip').first().waitFor();
  for (let chip = page.locator('#chips .chip').first(); await chip.isVisible().catch(() => false);) {
    const [text, last] = [await chip.innerText(), await view.lastId()];
    await chip.click();
    if (/said by/.test(text)) await view.settled();
    else await view.answer(last, text);
    await view.look(`group: ${text}`);
  }
  await view.picture('group');
  // As another member.
  await page.locator('#speak').click();
  await page.locator('#menu .option').filter({ hasText: 'Robin' }).click();
  await view.say('@figaro_bot hello from Robin');
  // Code of any length, with spaces where its lines end.
  await page.evaluate(() => [...document.querySelectorAll('.bubble .text code')].filter((code) => !code.closest('pre'))
    .forEach((code, i) => { code.textContent = 'words   of some   code '.repeat(8).slice(0, 30 + i * 5); }));
  await view.look('code that is wrapped');
  await view.changes('a mention', () => page.locator('#input').pressSequentially('@fig'));
  await page.keyboard.press('Enter');
  if (await page.locator('#input').inputValue() !== '@figaro_bot ') view.fault('a mention is not completed');
  await page.locator('#input').fill('');
  await page.locator('#speak').click();
  await page.locator('#menu .option').filter({ hasText: 'Alex' }).click();

  await view.openRoom('Ideas');
  await view.say('@figaro_bot hello in a topic');
  await view.picture('topic');
  await view.openRoom('General');
  await view.say('@figaro_bot hello in General');
  await view.openRoom('Figaro');
}

export async function stranger(view) {
  const { page } = view;
  await view.openRoom('Speak as a stranger');
  await page.locator('.empty').waitFor();
  await view.picture('stranger-empty');
  if (!await page.locator('#face svg').count()) view.fault('the header does not show whom a stranger talks to');
  const [last, chip] = [await view.lastId(), page.locator('.empty .tries .chip').first()];
  const text = await chip.innerText();
  await chip.click();
  await view.answer(last, text);
  if (!/private/.test(await page.locator('#items').innerText())) view.fault('a stranger is not told that the bot is private');
  if (await page.locator('#items .msg.out').count() !== 1) view.fault('a stranger does not see the own message as such');
  await view.picture('stranger');
  await view.changes('Back to Alex', () => page.locator('#stranger button').click());
  await page.locator('#stranger').waitFor({ state: 'hidden' });
  await view.changes('Allow', () => page.locator('#items button.key', { hasText: 'Allow' }).last().click());
  await view.openRoom('Speak as Sam');
  const offered = await page.locator('#chips .chip').allInnerTexts();
  if (!offered.length || offered.includes(text)) view.fault(`who was let in is offered: ${offered}`);
  await view.changes('Back to Alex', () => page.locator('#stranger button').click());
  await page.locator('#stranger').waitFor({ state: 'hidden' });
}

export async function list(view) {
  const { page, phone } = view;
  for (let i = 0; i < 2; i += 1) {
    if (phone) await page.locator('#back').click();
    await view.changes('the theme', () => page.locator('#theme').click());
    if (phone) await view.picture(`list-${i}`);
    await view.openRoom('Figaro');
    await view.picture(`theme-${i}`);
  }
  const isOpen = await page.locator('#calls').isVisible();
  if (!isOpen) await view.changes('the calls', () => page.locator('#showcalls').click());
  await page.locator('#callrows summary').first().waitFor();
  await view.changes('a call', () => page.locator('#callrows summary').first().click());
  await view.picture('calls');
  await view.changes('the filter', () => page.locator('#filter').fill('sendPoll'));
  await page.locator('#filter').fill('');
  if (phone) await view.changes('closing the calls', () => page.locator('#hidecalls').click());
  else await view.resizes('the window of a phone', { width: 360, height: 740 });
  await page.locator('#log').evaluate((log) => { log.scrollTop = 0; });
  await page.locator('#down:not(.off)').click();
  await page.locator('#down.off').waitFor({ state: 'attached' });
  const hide = page.locator('#chips .icon');
  if (await hide.isVisible()) await view.changes('hiding the examples', () => hide.click());
}

/** The demo ends and starts again on its port: the page goes on by itself, and everything is there. */
/** What was said in the open chat, without what changes or comes by itself: the cards of tasks, and reminders. */
const said = (page) => page.locator('#items [data-id]').evaluateAll((nodes) => nodes.map((node) => node.innerText).filter((text) => !text.includes('⏰')));

export async function restart(view) {
  const { page, demo } = view;
  await view.settled();
  const before = await said(page);
  view.expectsRefusal = true;
  view.closing = true;
  await demo.stop();
  await page.locator('#banner').waitFor();
  await page.locator('#input').fill('into the void');
  await view.changes('sending without a demo', () => page.locator('#send').click());
  await view.picture('lost');
  await demo.start(demo.port);
  await page.locator('#banner').waitFor({ state: 'hidden' });
  view.expectsRefusal = view.closing = false;
  await page.waitForFunction((count) => document.querySelectorAll('#items [data-id]').length >= count, before.length);
  await view.settled();
  const now = await said(page);
  const at = before.findIndex((text, i) => now[i] !== text);
  if (at >= 0) view.fault(`after a restart the talk is another: “${before[at].slice(0, 80)}” is now “${(now[at] ?? 'nothing').slice(0, 80)}”`);
  await page.locator('#input').fill('');
  await view.say('the barber of Seville');
  await view.picture('restarted');
}
