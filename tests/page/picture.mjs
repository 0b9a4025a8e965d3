// Takes the pictures of the README from the demo, in both schemes: a task's card and an approval in a group.
import { Demo } from './demo.mjs';
import { View } from './view.mjs';

const { chromium } = await import(process.env.PLAYWRIGHT);
const [figaro, folder] = process.argv.slice(2);
const SIZE = { width: 1000, height: 720 };
const SAID = [
  '/timezone@figaro_bot Lisbon',
  '@figaro_bot remind us every weekday at 12:30 to order lunch',
  '@figaro_bot mute @robin for 10 minutes',
];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid() ? [] : ['--no-sandbox'] });
const faults = [];
for (const scheme of ['light', 'dark']) {
  const demo = new Demo(figaro);
  try {
    await demo.start();
    const view = await View.open(browser, demo, { name: scheme, ...SIZE, dark: scheme === 'dark' });
    await view.openRoom('Lunch club');
    for (const text of SAID) await view.say(text);
    await view.page.locator('#chips').evaluate((node) => { node.hidden = true; });
    await view.page.screenshot({ path: `${folder}/chat-${scheme}.png` });
    faults.push(...view.faults);
    await view.close();
  } finally {
    await demo.remove();
  }
}
await browser.close();
for (const fault of faults) console.error(fault);
process.exit(faults.length ? 1 : 0);
