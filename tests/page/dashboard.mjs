// Looks at every page of the dashboard in a headless Chromium: in both schemes, wide and narrow, in four languages, by axe too.
// Each action must show in the chat, and what happens in the chat on the page. Ends with 1 and a list of what was wrong.
import { readFileSync } from 'node:fs';

import { Demo } from './demo.mjs';
import { View } from './view.mjs';

const { chromium } = await import(process.env.PLAYWRIGHT);
const axe = readFileSync(process.env.AXE, 'utf8');
const figaro = process.argv[2];

const PAGES = ['', 'conversations', 'memory', 'tasks', 'approvals', 'people', 'agents', 'servers', 'audit', 'settings'];
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
const LOOKS = [{ ...WIDE, dark: false }, { ...WIDE, dark: true }, { ...NARROW, dark: false }, { ...NARROW, dark: true }];
// With what the demo understands to change to the language.
const LANGUAGES = [['English', 'en'], ['Deutsch', 'de'], ['العربية', 'ar'], ['中文', 'zh']];
/** How long anything may take before it counts as not coming. */
const PATIENCE_MS = 20_000;

const faults = [];
const fault = (text) => faults.push(text);

/** Chats with the bot until there is something on each page, and gives the chat and a link to the dashboard. */
async function prepared(browser, demo) {
  const view = await View.open(browser, demo, { name: 'chat', ...WIDE, dark: false });
  await view.openRoom('Lunch club');
  await view.say('/timezone@figaro_bot Lisbon');
  await view.say('@figaro_bot remind us every weekday at 12:30 to order lunch');
  await view.say('@figaro_bot mute @robin for 10 minutes');
  await view.openRoom('figaro_bot').catch(() => view.openRoom('Figaro'));
  await view.say('I live in Riga and I am allergic to nuts <b>bold</b> & "quoted"');
  await view.say('What is 17 % of 240?');
  await view.say('/pin <img src=x onerror="document.title=1"> water the plants');
  return view;
}

async function link(view) {
  const id = await view.say('/dashboard');
  const words = await view.page.locator(`#items [data-id="${id}"]`).innerText();
  const found = /http:\S+\/enter\/[0-9a-f]{64}/.exec(words);
  if (!found) throw new Error(`no link in “${words}”`);
  return found[0];
}

/** Opens a browser that complains about what must not happen. */
async function browserOf(browser, { width, height, dark }, name) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) fault(`${name}: console: ${message.text()}`); });
  page.on('pageerror', (error) => fault(`${name}: ${error.stack}`));
  page.on('response', (response) => { if (response.status() >= 400) fault(`${name}: ${response.status()} for ${response.url()}`); });
  page.on('request', (request) => { if (!request.url().startsWith('http://127.0.0.1:')) fault(`${name}: it loads ${request.url()}`); });
  return page;
}

/** Signs in, and gives the address of the dashboard. */
async function signIn(page, url) {
  await page.goto(url);
  await page.getByRole('button').click();
  await page.locator('nav').waitFor();
  return page.url();
}

/** Checks what holds for every page. */
async function look(page, name) {
  // The policy of the pages lets no script in but their own.
  const found = await page.evaluate(`(() => { ${axe}; return window.axe.run(document, { resultTypes: ['violations'] }); })()`);
  for (const { id, nodes } of found.violations) fault(`${name}: axe: ${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (beyond > 0) fault(`${name}: it is ${beyond} pixels too wide`);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
}

/** Every page, and one of each kind below them. */
async function everyPage(page, root, name) {
  for (const path of PAGES) {
    const answer = await page.goto(root + path);
    if (!answer.ok()) fault(`${name}: ${path || 'overview'}: ${answer.status()}`);
    await look(page, `${name}-${path || 'overview'}`);
  }
  for (const [path, selector] of [['conversations', 'tbody a[href^="conversations/"]'], ['tasks', 'tbody a[href^="tasks/"]']]) {
    await page.goto(root + path);
    await page.locator(selector).first().click();
    await page.waitForURL(new RegExp(`/${path}/`));
    for (const part of await page.locator('main summary').all()) await part.click();
    await look(page, `${name}-${path}-one`);
  }
  await page.goto(`${root}conversations`);
  await page.locator('tbody a[href^="conversations/"]').first().click();
  await page.locator('a[href*="/why/"]').last().click();
  await page.waitForURL(/\/why\//);
  await look(page, `${name}-why`);
  await page.locator('main a[rel="up"]').click();
  await page.waitForURL(/\/conversations\/[^/]+(#m\d+)?$/);
  await page.goto(`${root}conversations?q=nuts`);
  if (!(await page.locator('.found').innerText()).includes('nuts')) fault(`${name}: the search finds nothing`);
  await look(page, `${name}-search`);
}

/** Waits for something of the other side, and prints how long it took: on a quiet machine less than a second. */
async function soon(what, condition) {
  const began = Date.now();
  while (Date.now() - began < PATIENCE_MS) {
    if (await condition()) return console.log(`${what}: ${Date.now() - began} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return fault(`${what} does not show`);
}

/** What is done on one side shows on the other. */
async function bothWays(view, page, root) {
  const chat = (words) => async () => (await view.page.locator('#items').innerText()).includes(words);
  const shown = (words) => async () => (await page.locator('main').innerText()).includes(words);
  await page.goto(`${root}approvals`);
  await view.openRoom('Lunch club');
  await page.getByRole('button', { name: 'Once' }).click();
  await soon('an approval in the chat', chat('Approved by Alex'));
  await soon('no call that waits on the page', shown('Nothing waits for approval'));
  await view.say('@figaro_bot mute @robin for 20 minutes');
  await soon('a call that waits on the page', shown('from writing'));
  await page.goto(`${root}tasks`);
  // Telegram takes one message a second in a chat, so a card may have to wait for the one before.
  await page.waitForTimeout(1_500);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('#told', { hasText: 'Paused' }).waitFor();
  await soon('a paused task in the chat', chat('Paused'));
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('#told', { hasText: 'again' }).waitFor();
  const last = await view.lastId();
  await page.getByRole('button', { name: 'Run now' }).click();
  await soon('a task that runs in the chat', async () => await view.lastId() > last);
  await page.goto(`${root}memory`);
  await view.openRoom('figaro_bot').catch(() => view.openRoom('Figaro'));
  await view.say('/pin remember the milk');
  await soon('a pin on the page', shown('remember the milk'));
  await page.locator('article', { hasText: 'remember the milk' }).getByText('Delete').first().click();
  await page.locator('article', { hasText: 'remember the milk' }).getByRole('button', { name: 'Delete' }).click();
  await page.locator('#told', { hasText: 'Removed' }).waitFor();
  await view.say('/pins');
  const words = await view.page.locator('#items .msg:not(.out)').last().innerText();
  if (words.includes('remember the milk')) fault(`the pin is still there: ${words}`);
}

// As root, as in a container, Chromium has no sandbox; it opens nothing but the page.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid() ? [] : ['--no-sandbox'] });
const demo = new Demo(figaro);
try {
  await demo.start();
  const view = await prepared(browser, demo);
  for (const [language, tag] of LANGUAGES) {
    if (tag !== 'en') await view.say(`/config language ${language}`);
    for (const look of LOOKS) {
      // Other languages need one look of each size.
      if (tag !== 'en' && look.dark !== (look.width === WIDE.width)) continue;
      const name = `${tag}-${look.width}-${look.dark ? 'dark' : 'light'}`;
      const page = await browserOf(browser, look, name);
      const root = await signIn(page, await link(view));
      const lang = await page.locator('html').getAttribute('lang');
      if (lang !== tag) fault(`${name}: the page is in ${lang}`);
      await everyPage(page, root, name);
      console.log(name);
      await page.context().close();
    }
  }
  await view.say('/config language English');
  const page = await browserOf(browser, LOOKS[0], 'actions');
  await bothWays(view, page, await signIn(page, await link(view)));
  faults.push(...view.faults);
} catch (error) {
  faults.push(error.stack);
} finally {
  await demo.remove();
}
await browser.close();
for (const one of faults) console.error(one);
console.log(faults.length ? `${faults.length} faults in the dashboard` : 'the dashboard is fine');
process.exit(faults.length ? 1 : 0);
