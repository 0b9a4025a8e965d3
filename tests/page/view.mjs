// The chat page in a browser, as a visitor sees it; collects every fault that is seen on the way.
import { faint } from './contrast.mjs';

/** How long anything may take before it counts as not coming: far longer than it takes on a busy machine. */
const PATIENCE_MS = 30_000;

export class View {
  faults = [];
  // While the demo is down or refuses on purpose, the browser's own complaints are no fault.
  expectsRefusal = false;

  static async open(browser, demo, { name, width, height, dark, language, phone = false }) {
    const context = await browser.newContext({
      viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', hasTouch: phone, isMobile: phone, reducedMotion: 'reduce',
    });
    const view = new View();
    Object.assign(view, { name, demo, context, phone, language, page: await context.newPage() });
    view.#watch();
    // A toast goes by itself, which is no answer to anything: they are counted as they come.
    await view.page.addInitScript(() => {
      window.toastsShown = 0;
      const count = (changes) => { window.toastsShown += changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.classList?.contains('toast')).length; };
      new MutationObserver(count).observe(document, { childList: true, subtree: true });
    });
    try {
      await view.page.goto(demo.url);
      // A phone shows one thing at a time: at first what there is to try.
      await view.page.locator(phone ? '.empty .tries' : '#rooms .row').first().waitFor();
      await view.settled();
    } catch (error) {
      // A page that does not come up has usually said why.
      throw new Error([...view.faults, error.message].join('\n'), { cause: error });
    }
    return view;
  }

  #watch() {
    const { page } = this;
    const fault = (text) => { if (!this.expectsRefusal) this.fault(text); };
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) fault(`console: ${message.text()}`); });
    page.on('pageerror', (error) => this.fault(`error: ${error.stack}`));
    page.on('requestfailed', (request) => {
      if (!this.closing) fault(`request failed: ${request.url()} ${request.failure()?.errorText}`);
    });
    page.on('response', (response) => { if (response.status() >= 400) fault(`${response.status()} for ${response.url()}`); });
  }

  fault(text) { this.faults.push(`${this.name}: ${text}${this.doing ? ` (at ${this.doing})` : ''}`); }

  async close() {
    this.closing = true;
    await this.context.close();
  }

  /** A row of the list by its title. On a phone it is behind the Back button. */
  async openRoom(title) {
    const back = this.page.locator('#back');
    if (await back.isVisible()) await back.click();
    await this.page.locator('#rooms .row').filter({ has: this.page.locator('.title', { hasText: new RegExp(`^${title}$`) }) }).first().click();
    await this.page.locator('#composer').waitFor();
    await this.settled(); // until then the messages of the room before may still be shown, with higher ids
  }

  /** What a visitor sees of the talk: texts, buttons, toasts, what is open, where the page is. Waiting wheels do not count. */
  seen() {
    return this.page.evaluate(() => {
      const words = (node) => `${node.dataset.id ?? ''} ${node.innerText}`;
      const list = (selector) => [...document.querySelectorAll(selector)];
      return JSON.stringify([
        list('#items [data-id]').map(words), list('.re, .key').map((node) => node.innerText + node.getAttribute('aria-pressed')),
        window.toastsShown, list('dialog[open]').map(words), list('#acts:popover-open, #menu:not([hidden])').map(words),
        list('#replybar:not([hidden]), #attachbar:not([hidden]), #parts:not([hidden]), #stranger:not([hidden])').map(words),
        document.getElementById('input').value, location.hash, document.documentElement.dataset.theme ?? '', document.getElementById('app').dataset.view,
        document.getElementById('calls').hidden, document.getElementById('chips').hidden,
        list('.choice').map((node) => node.getAttribute('aria-pressed')), list('.spoiler.open').length, list('blockquote.open').length,
        list('#callrows details[open]').length, list('#callrows details').filter((node) => node.hidden).length,
      ]);
    });
  }

  /** Waits until nothing is on its way: no draft, no waiting button, and nothing changes for a moment of so many ms. */
  async settled(moment = 250) {
    const until = Date.now() + PATIENCE_MS;
    for (let last = ''; Date.now() < until;) {
      await this.page.waitForFunction(() => !document.querySelector('.draft:not(.ended), .key.busy'), null, { timeout: PATIENCE_MS });
      const now = await this.seen();
      if (now === last) return;
      last = now;
      await this.page.waitForTimeout(moment);
    }
    this.fault('the page does not come to rest');
  }

  /** Does something that must change what is seen; a fault if it does not. */
  async changes(what, act, patience = PATIENCE_MS) {
    this.doing = what;
    const before = await this.seen();
    await act();
    const until = Date.now() + patience;
    while (Date.now() < until) {
      if (await this.seen() !== before) return true;
      await this.page.waitForTimeout(50);
    }
    this.fault(`nothing comes of ${what}`);
    return false;
  }

  /** Sends a text and gives the newest message of the bot that comes for it. */
  async say(text, answered = true) {
    this.doing = text.slice(0, 60);
    const last = await this.lastId();
    await this.page.locator('#input').fill(text);
    await this.page.locator('#send').click();
    return answered ? this.answer(last, text) : null;
  }

  /** The id of the first message of someone else after this one, once all has come to rest. */
  async answer(last, what) {
    const found = await this.page.waitForFunction(
      (last) => [...document.querySelectorAll('#items .msg:not(.out)[data-id]')].map((node) => Number(node.dataset.id)).find((id) => id > last),
      last, { timeout: PATIENCE_MS },
    ).catch(() => null);
    if (!found) { this.fault(`no answer to “${what}”`); return null; }
    await this.settled();
    return found.jsonValue();
  }

  lastId() {
    return this.page.evaluate(() => Math.max(0, ...[...document.querySelectorAll('#items [data-id]')].map((node) => Number(node.dataset.id))));
  }

  /** A window that becomes small and large again: nothing is left over the talk. */
  async resizes(what, small) {
    const before = this.page.viewportSize();
    await this.page.setViewportSize(small);
    await this.settled();
    if (await this.page.locator('#calls').isVisible()) this.fault(`${what}: the calls cover the talk`);
    await this.picture('resized');
    await this.page.setViewportSize(before);
    await this.settled();
  }

  bubble(id) { return this.page.locator(`#items [data-id="${id}"]`); }

  /** The menu of a message: at a phone by a tap, elsewhere by the second mouse button. */
  async acts(id) {
    const bubble = this.bubble(id).locator('.bubble');
    await this.settled(); // a message that changes is drawn anew
    const at = { position: { x: 4, y: 4 } };
    await (this.phone ? bubble.tap(at) : bubble.click({ button: 'right', ...at }));
    await this.page.locator('#acts:popover-open').waitFor();
    return this.page.locator('#acts');
  }

  /** Looks for what must never be there: JSON in a bubble or a toast, faint text, something wider than the window or over other things. */
  async look(where) {
    const found = await this.page.evaluate((isTranslated) => {
      const faults = [];
      const texts = [...document.querySelectorAll('.bubble, .toast, .pill, dialog[open], .empty')];
      for (const node of texts) {
        const text = node.innerText.trim();
        // What stands in a code block is meant to be code.
        const own = [...node.querySelectorAll('pre')].reduce((rest, pre) => rest.replace(pre.innerText, ''), text);
        if (/^[[{][\s\S]*[\]}]$/.test(own) || /\{\s*"[^"]*"\s*:/.test(own) || /\[object |undefined|NaN/.test(own)) faults.push(`looks like data: ${text.slice(0, 120)}`);
      }
      const isSeen = (node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest('.sr, #chips, pre');
      const wide = [...document.querySelectorAll('#app *')].filter((node) => isSeen(node) && node.getBoundingClientRect().right > innerWidth + 1);
      if (document.scrollingElement.scrollWidth > innerWidth || wide.length) faults.push(`wider than the window: ${wide.map((node) => node.id || node.className).slice(0, 3)}`);
      const bottom = (id) => document.getElementById(id).getBoundingClientRect().bottom;
      if (document.querySelector('.toast') && bottom('toasts') > document.getElementById('log').getBoundingClientRect().top + 1) faults.push('a toast covers the talk');
      const outside = [...document.querySelectorAll('.bubble .text code')].filter((code) => !code.closest('pre') && isSeen(code)
        && [...code.getClientRects()].some((line) => line.right > code.closest('.bubble').getBoundingClientRect().right));
      if (outside.length) faults.push(`code sticks out of its bubble: ${outside[0].innerText}`);
      // Words that are laid out later, such as those behind an open panel, are no text of the page yet.
      const dumb = [...document.querySelectorAll('button, a')].filter((node) => isSeen(node) && !node.textContent.trim() && !node.ariaLabel && !node.title && !node.querySelector('img[alt]'));
      const words = document.createRange();
      // Chinese, Japanese and Korean break anywhere.
      const isBroken = (text) => [...text.data.matchAll(/[^\s\u1100-\u11ff\u2e80-\uffef]+/g)].some(({ index, 0: word }) => {
        words.setStart(text, index);
        words.setEnd(text, index + word.length);
        // Digits in Arabic text have boxes of their own, on the same line.
        const boxes = [...words.getClientRects()];
        return boxes.some(({ top }) => top > boxes[0].bottom - 1);
      });
      const broken = [...document.querySelectorAll('.key')].filter((node) => isSeen(node) && node.firstChild?.nodeType === Node.TEXT_NODE && isBroken(node.firstChild));
      if (broken.length) faults.push(`a word of a button is broken: ${broken[0].innerText}`);
      const letters = (text, kind) => (text.match(kind) ?? []).length;
      const leftToRight = [...document.querySelectorAll('.bubble .text, .key')].filter((node) => isSeen(node)
        && letters(node.innerText, /\p{Script=Arabic}/gu) > letters(node.innerText, /\p{Script=Latin}/gu) && getComputedStyle(node).direction !== 'rtl');
      if (leftToRight.length) faults.push(`runs in the wrong direction: ${leftToRight[0].innerText.slice(0, 80)}`);
      const cut = [...document.querySelectorAll('.key')].filter((node) => isSeen(node) && node.scrollWidth > node.clientWidth + 1);
      if (isTranslated && cut.length) faults.push(`a label is cut: ${cut[0].innerText}`);
      if (dumb.length) faults.push(`a button without a name: ${dumb[0].outerHTML.slice(0, 120)}`);
      return faults;
    }, Boolean(this.language));
    for (const fault of [...found, ...await faint(this.page)]) this.fault(`${where}: ${fault}`);
  }

  async picture(what) {
    await this.look(what);
    const folder = process.env.SCREENSHOTS;
    if (folder) await this.page.screenshot({ path: `${folder}/${this.name}-${what}.png` });
  }
}
