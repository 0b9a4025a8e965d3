// How well texts stand out from what is behind them.

/** What WCAG 2.2 (1.4.3) asks of text of the usual size. */
const MIN_RATIO = 4.5;

/** The texts of a page that stand out too little, with their ratio. What is disabled or fades away may be faint, and emoji have colours of their own. */
export const faint = (page) => page.evaluate((least) => {
  const channels = (colour) => {
    const numbers = colour.match(/-?[\d.]+(e-?\d+)?/g)?.map(Number) ?? [0, 0, 0, 0];
    const [r, g, b, a = 1] = numbers;
    return colour.startsWith('color(') ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((top, i) => top * a + under[i] * (1 - a));
  const light = (colour) => {
    const [r, g, b] = colour.map((channel) => channel / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark' || (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
  const known = new Map();
  /** Every colour that may be behind what stands in a node: of a gradient, each of its stops. */
  const behind = (node) => {
    if (!node) return [isDark ? [0, 0, 0] : [255, 255, 255]];
    if (known.has(node)) return known.get(node);
    const style = getComputedStyle(node);
    const paint = (under, colours) => (colours.length ? under.flatMap((each) => colours.map((colour) => over(channels(colour), each))) : under);
    const stops = style.backgroundImage.match(/(rgba?|color)\([^)]*\)/g) ?? [];
    const all = paint(paint(behind(node.parentElement), [style.backgroundColor]), stops);
    known.set(node, all);
    return all;
  };
  const opacity = (node) => (node ? Number(getComputedStyle(node).opacity) * opacity(node.parentElement) : 1);
  const lowest = (node, colour) => {
    const [r, g, b, a] = channels(colour);
    const text = [r, g, b, a * opacity(node)];
    return Math.min(...behind(node).map((under) => ratio(over(text, under), under)));
  };
  const found = new Map();
  const judge = (node, words, colour) => {
    if (node.closest(':disabled, .busy, .sr, .toast.leaving, .date.stuck') || !node.checkVisibility({ visibilityProperty: true }) || !opacity(node)) return;
    const worst = lowest(node, colour);
    const name = `${node.closest('[id]')?.id} ${node.tagName.toLowerCase()}.${node.className}`;
    if (worst < least && !found.has(name)) found.set(name, `“${words.slice(0, 30)}” (${name}) stands out ${worst.toFixed(2)} to 1`);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const words = text.data.trim();
    if (/[\p{L}\p{N}]/u.test(words) && !text.parentElement.closest('script, style')) judge(text.parentElement, words, getComputedStyle(text.parentElement).color);
  }
  for (const input of document.querySelectorAll('[placeholder]')) judge(input, input.placeholder, getComputedStyle(input, '::placeholder').color);
  return [...found.values()];
}, MIN_RATIO);
