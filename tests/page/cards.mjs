// Every button of every card that a command brings, and of those behind them.

/** So many presses of one command's cards; none has as many buttons. */
const MAX_PRESSES = 120;

/** What a button does, whatever it does it to. */
const kindOf = (key) => key.data.replace(/^[^/]*\/[^/]*\//, '').replace(/[0-9a-f]{6,}|\d+/gi, '#');

/** The buttons of a message. */
const keysOf = (view, id) => view.bubble(id).locator('button.key').evaluateAll((nodes) =>
  nodes.map((node) => ({ label: node.innerText, data: node.dataset.key ?? `copy/${node.innerText}` })));

/** The newest message with buttons that is not older than this one. */
const cardSince = (view, id) => view.page.evaluate((id) => Math.max(0, ...[...document.querySelectorAll('#items [data-id]')]
  .filter((node) => node.querySelector('button.key')).map((node) => Number(node.dataset.id)).filter((each) => each >= id)), id);

class Crawl {
  pressed = new Set();
  // What was found behind a button, by its kind.
  behind = new Map();

  constructor(view) { this.view = view; }

  isDone(kind, seen = new Set()) {
    if (!this.pressed.has(kind)) return false;
    if (seen.has(kind)) return true;
    seen.add(kind);
    return [...(this.behind.get(kind) ?? [])].every((other) => this.isDone(other, seen));
  }

  /** Presses a button of a card that was not pressed, or has such behind it; gives the card that is there then. */
  async step(command, id) {
    const { view } = this;
    const keys = await keysOf(view, id);
    const at = [keys.findIndex((key) => !this.pressed.has(kindOf(key))), keys.findIndex((key) => !this.isDone(kindOf(key)))].find((at) => at >= 0);
    if (at === undefined) return 0;
    const kind = kindOf(keys[at]);
    this.pressed.add(kind);
    const last = await view.lastId();
    await view.changes(`${command} › ${keys[at].label} (${kind})`, () => view.bubble(id).locator('button.key').nth(at).click());
    await view.settled();
    await view.look(`${command} › ${keys[at].label}`);
    const alert = view.page.locator('#alert[open] button');
    if (await alert.isVisible()) await alert.click();
    const next = (await cardSince(view, last + 1)) || ((await keysOf(view, id)).length ? id : 0);
    const found = next ? (await keysOf(view, next)).map(kindOf) : [];
    this.behind.set(kind, new Set([...(this.behind.get(kind) ?? []), ...found]));
    return next;
  }
}

export async function cards(view) {
  for (const text of ['Remember to buy milk', 'Remind me in 50 minutes to drink water', 'What is scheduled?']) await view.say(text);
  await view.page.locator('#slash').click();
  const commands = await view.page.locator('#menu .option b').allInnerTexts();
  await view.page.keyboard.press('Escape');
  if (commands.length < 8) view.fault(`few commands: ${commands}`);
  const crawl = new Crawl(view);
  for (const command of ['/start', ...commands, 'choose']) {
    let presses = 0;
    for (let goesOn = true; goesOn && presses < MAX_PRESSES;) {
      goesOn = false;
      const last = await view.lastId();
      const answer = await view.say(command);
      if (answer && !presses) await view.picture(command.replace('/', ''));
      for (let id = await cardSince(view, last + 1); id && presses < MAX_PRESSES; presses += 1) {
        id = await crawl.step(command, id);
        goesOn ||= id > 0;
      }
    }
    if (presses === MAX_PRESSES) view.fault(`${command}: no end of buttons`);
  }
  if (crawl.pressed.size < 20) view.fault(`few buttons: ${[...crawl.pressed]}`);
  console.log(`${view.name}: ${crawl.pressed.size} kinds of buttons`);
}
