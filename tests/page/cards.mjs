// Every button of every card that a command brings, and of those behind them.

/** So many presses of the cards of one command; none has as many buttons. /start leads to all others: some 140. */
const MAX_PRESSES = 300;

/** What a button does, whatever it does it to. */
const kindOf = (key) => key.data.replace(/^[^/]*\/[^/]*\//, '').replace(/[0-9a-f]{6,}|\d+/gi, '#');

/** The buttons of a message. */
const keysOf = (view, id) => view.bubble(id).locator('button.key').evaluateAll((nodes) =>
  nodes.map((node) => ({ label: node.innerText, data: node.dataset.key ?? `copy/${node.innerText}` })));

/** The newest message with buttons that is not older than this one. */
const cardSince = (view, id) => view.page.evaluate((id) => Math.max(0, ...[...document.querySelectorAll('#items [data-id]')]
  .filter((node) => node.querySelector('button.key')).map((node) => Number(node.dataset.id)).filter((each) => each >= id)), id);

/** So often a button is looked for behind others; then what was done meanwhile has taken it away. */
const MAX_SEARCHES = 4;

class Crawl {
  pressed = new Set();
  // What was last found behind a button, by its kind.
  behind = new Map();
  searches = new Map();

  constructor(view) { this.view = view; }

  isLeft(kind) { return !this.pressed.has(kind) && (this.searches.get(kind) ?? 0) < MAX_SEARCHES; }

  /** How many presses it is from a button to one that is left, and which; nothing if there is none behind it. */
  way(from) {
    let row = [from];
    const known = new Set(row);
    for (let length = 0; row.length; length += 1) {
      const left = row.find((kind) => this.isLeft(kind));
      if (left) return { length, left };
      row = row.flatMap((kind) => this.behind.get(kind) ?? []).filter((kind) => !known.has(kind) && known.add(kind));
    }
    return null;
  }

  /** Presses the button of a card that leads soonest to one that was not pressed; gives the card that is there then. */
  async step(command, id) {
    const { view } = this;
    // No button sets another language than that of the view.
    const sets = view.language ? /config:(set|clear):language/ : /config:set:language:(?!English)/;
    const keys = (await keysOf(view, id)).map((key, at) => ({ ...key, at })).filter(({ data }) => !sets.test(data));
    const ways = keys.map((key) => ({ key, ...this.way(kindOf(key)) })).filter((way) => way.left);
    if (!ways.length) return 0;
    const { key, length, left } = ways.sort((a, b) => a.length - b.length)[0];
    if (length) this.searches.set(left, (this.searches.get(left) ?? 0) + 1);
    const kind = kindOf(key);
    this.pressed.add(kind);
    const last = await view.lastId();
    await view.changes(`${command} › ${key.label} (${kind})`, () => view.bubble(id).locator('button.key').nth(key.at).click(), 10_000);
    // The bot may change its card a second after it has answered the press: it keeps to Telegram's pace.
    await view.settled(1300);
    await view.look(`${command} › ${key.label}`);
    const alert = view.page.locator('#alert[open] button');
    if (await alert.isVisible()) await alert.click();
    const next = (await cardSince(view, last + 1)) || ((await keysOf(view, id)).length ? id : 0);
    this.behind.set(kind, next ? (await keysOf(view, next)).map(kindOf) : []);
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
  // The owner's commands are in no list.
  for (const command of ['/start', ...commands, '/allow', '/deny', 'choose']) {
    let presses = 0;
    for (let goesOn = true; goesOn && presses < MAX_PRESSES;) {
      goesOn = false;
      // What was pressed may have erased the settings of the chat.
      if (view.language) await view.say(`/config language ${view.language}`);
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
  const refused = await view.page.locator('#callrows .err').evaluateAll((calls) => calls.map((call) => call.textContent));
  // An edit that changes nothing is refused by Telegram; the bot counts on it.
  for (const call of refused.filter((call) => !call.includes('not modified'))) view.fault(`Telegram refused a call: ${call.slice(0, 200)}`);
  console.log(`${view.name}: ${crawl.pressed.size} kinds of buttons`);
}
