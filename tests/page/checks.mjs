// Presses everything on the demo's chat page, in both themes, wide and narrow. Ends with 1 and a list of what was wrong.
import { acts, asked, files, polls } from './acts.mjs';
import { cards } from './cards.mjs';
import { Demo } from './demo.mjs';
import { composer, groups, list, restart, stranger, suggestions } from './talk.mjs';
import { View } from './view.mjs';

const { chromium } = await import(process.env.PLAYWRIGHT);
const figaro = process.argv[2];

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 360, height: 740, phone: true };
const TALK = [suggestions, composer, acts, asked, files, polls, groups, stranger, list, restart];
// Cards are pressed on a demo of their own: a reminder that comes meanwhile would stand where a card is looked for.
const RUNS = [
  [{ name: 'wide-light', ...WIDE, dark: false }, TALK],
  [{ name: 'narrow-dark', ...NARROW, dark: true }, TALK],
  [{ name: 'wide-dark', ...WIDE, dark: true }, [cards]],
  [{ name: 'narrow-light', ...NARROW, dark: false }, [cards]],
  [{ name: 'narrow-arabic', ...NARROW, dark: false, language: 'العربية' }, [cards]],
  [{ name: 'narrow-german', ...NARROW, dark: true, language: 'Deutsch' }, [cards]],
  [{ name: 'wide-chinese', ...WIDE, dark: false, language: '中文' }, [cards]],
];

/** Runs some checks on a demo of their own and gives what was wrong. */
async function run(browser, options, checks) {
  const demo = new Demo(figaro, checks.includes(restart));
  let view;
  try {
    await demo.start();
    view = await View.open(browser, demo, options);
    for (const check of checks) {
      await check(view);
      console.log(`${options.name}: ${check.name}`);
    }
    await view.close();
    await demo.stop();
    if (demo.complaints) view.fault(`the demo complains: ${demo.complaints}`);
    return view.faults;
  } catch (error) {
    if (view && process.env.SCREENSHOTS) await view.page.screenshot({ path: `${process.env.SCREENSHOTS}/${options.name}-broken.png` }).catch(() => {});
    return [...(view?.faults ?? []), `${options.name}: ${error.stack}`];
  } finally {
    await demo.remove();
  }
}

// As root, as in a container, Chromium has no sandbox; it opens nothing but the page.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid() ? [] : ['--no-sandbox'] });
const only = process.env.ONLY;
// Cards in other languages take ten minutes more: only on request.
const runs = RUNS.filter(([{ name, language }]) => (only ? name === only : !language || process.env.LANGUAGES));
const faults = [];
for (let at = 0; at < runs.length; at += 2) {
  faults.push(...(await Promise.all(runs.slice(at, at + 2).map(([options, checks]) => run(browser, options, checks)))).flat());
}
await browser.close();
for (const fault of faults) console.error(fault);
console.log(faults.length ? `${faults.length} faults on the chat page` : 'the chat page is fine');
process.exit(faults.length ? 1 : 0);
