// Opens the dashboard as a Mini App on the chat page of the demo: in both schemes, on a phone and on a wide screen. Its colours
// must be those of the client and readable, and the back button, the haptics and a change of the scheme must work.
// Ends with 1 and a list of what was wrong.
import { readFileSync } from 'node:fs';

import { Demo } from './demo.mjs';
import { View } from './view.mjs';

const { chromium } = await import(process.env.PLAYWRIGHT);
const axe = readFileSync(process.env.AXE, 'utf8');
const figaro = process.argv[2];

const PAGES = ['', 'conversations', 'memory', 'tasks', 'approvals', 'people', 'agents', 'servers', 'audit', 'settings'];
const LOOKS = [
  { width: 390, height: 844, phone: true, dark: false }, { width: 390, height: 844, phone: true, dark: true },
  { width: 1280, height: 900, dark: false }, { width: 1280, height: 900, dark: true },
];

const faults = [];

/** The frame of the Mini App, once it shows a page of this address. */
async function shown(view, path) {
  const handle = await view.page.locator('#miniapp iframe').elementHandle();
  const frame = await handle.contentFrame();
  await frame.waitForURL((url) => url.pathname.endsWith(`/dashboard/${path}`));
  await frame.locator('nav').waitFor();
  return frame;
}

const back = (frame) => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);

/** Opens the Mini App from the menu button, and goes through it. */
async function goThrough(view, { dark }) {
  const fault = (text) => view.fault(text);
  await view.page.locator('#menubutton').click();
  let frame = await shown(view, '');
  const scheme = await frame.evaluate(() => document.documentElement.style.colorScheme);
  if (scheme !== (dark ? 'dark' : 'light')) fault(`the colours are ${scheme}`);
  if (await view.page.locator('#appback').isVisible()) fault('the first page has a back button');
  for (const path of PAGES) {
    await frame.goto(frame.url().replace(/\/dashboard\/.*/, `/dashboard/${path}`));
    const found = await frame.evaluate(`(() => { ${axe}; return window.axe.run(document, { resultTypes: ['violations'] }); })()`);
    for (const { id, nodes } of found.violations) fault(`${path}: axe: ${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
    const beyond = await frame.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (beyond > 0) fault(`${path}: it is ${beyond} pixels too wide`);
    if (await frame.getByRole('button', { name: 'Sign out' }).count()) fault(`${path}: it can be signed out`);
    if (process.env.SCREENSHOTS) await view.page.screenshot({ path: `${process.env.SCREENSHOTS}/${view.name}-${path || 'overview'}.png` });
  }
  // Why an answer is as it is, its chat, the list, the first page.
  await frame.goto(frame.url().replace(/\/dashboard\/.*/, '/dashboard/conversations'));
  await frame.locator('tbody a[href^="conversations/"]').first().click();
  await frame.waitForURL(/conversations\/./);
  await frame.locator('a[href*="/why/"]').last().click();
  await frame.waitForURL(/\/why\//);
  await frame.locator('nav').waitFor();
  await view.page.locator('#appback').click();
  await frame.waitForURL(/conversations\/[^/]+(#m\d+)?$/);
  await frame.locator('nav').waitFor();
  await view.page.locator('#appback').click();
  frame = await shown(view, 'conversations');
  await view.page.locator('#appback').click();
  frame = await shown(view, '');
  await view.page.locator('#appback').waitFor({ state: 'hidden' });

  await frame.goto(frame.url() + 'memory');
  await frame.locator('summary', { hasText: 'Delete' }).first().click();
  await frame.locator('details[open] button', { hasText: 'Delete' }).first().click();
  await view.page.locator('#miniapp[data-haptic="success"]').waitFor();

  const before = await back(frame);
  await view.page.emulateMedia({ colorScheme: dark ? 'light' : 'dark' });
  await frame.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, before);
  await view.page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  await frame.waitForFunction((was) => getComputedStyle(document.body).backgroundColor === was, before);
  await view.page.locator('#appclose').click();
  await view.page.locator('#miniapp').waitFor({ state: 'hidden' });
}

/** Opens it with the button under the command, and looks from another site at what it may not show. */
async function besides(view, browser) {
  const id = await view.say('/dashboard');
  await view.page.locator(`#items [data-id="${id}"] .key[data-app]`).click();
  const frame = await shown(view, '');
  const address = frame.url();
  await view.page.locator('#appclose').click();
  const app = await fetch(new URL('app', address));
  const nobody = await (await fetch(new URL('app', address))).text();
  if (app.status !== 200 || !nobody.includes('Open this page in Telegram')) view.fault('the page of the Mini App does not say where to open it');
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(new URL('app', address).href);
  if (!(await page.locator('main').innerText()).includes('Open this page in Telegram')) view.fault('outside of Telegram it says nothing');
  // A link with the data of somebody signs nobody in: no client opened it.
  await page.goto(`${new URL('app', address).href}#tgWebAppData=user%3D1%26hash%3D00`);
  await page.reload();
  await page.waitForTimeout(500);
  if (!(await page.locator('main').innerText()).includes('Open this page in Telegram')) view.fault('a link opens the Mini App outside of Telegram');
  await context.close();
}

// As root, as in a container, Chromium has no sandbox; it opens nothing but the page.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid() ? [] : ['--no-sandbox'] });
for (const look of LOOKS) {
  // A phone shows examples alone while the chat is empty.
  const demo = new Demo(figaro);
  try {
    await demo.start();
    const view = await View.open(browser, demo, { name: `app-${look.width}-${look.dark ? 'dark' : 'light'}`, ...look });
    await view.openRoom('figaro_bot').catch(() => view.openRoom('Figaro'));
    await view.say('What is 17 % of 240?');
    await view.say('/pin water the plants');
    await goThrough(view, look);
    if (look === LOOKS.at(-1)) await besides(view, browser);
    console.log(view.name);
    // A page that the next one replaces ends its requests.
    faults.push(...view.faults.filter((one) => !/request failed: \S+\/dashboard\/\S* net::ERR_ABORTED/.test(one)));
    await view.close();
  } catch (error) {
    faults.push(error.stack);
  } finally {
    await demo.remove();
  }
}
await browser.close();
for (const one of faults) console.error(one);
console.log(faults.length ? `${faults.length} faults in the Mini App` : 'the Mini App is fine');
process.exit(faults.length ? 1 : 0);
