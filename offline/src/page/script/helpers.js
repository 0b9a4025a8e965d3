// ── Helpers ────────────────────────────────────────────────────────────────────────────────────────
const $ = (id) => document.getElementById(id);
const phone = matchMedia('(max-width: 700px)');
// Below this the calls lie over the talk.
const narrow = matchMedia('(max-width: 1120px)');
const touch = matchMedia('(hover: none)');
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** Builds an element: `el('div.a.b', {props}, ...children)`. Functions and known properties are set as such. */
function el(spec, props, ...kids) {
  const [tag, ...classes] = spec.split('.');
  const node = document.createElement(tag || 'div');
  if (classes.length) node.className = classes.join(' ');
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value == null) continue;
    if (key in node) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...kids.filter((kid) => kid != null && kid !== ''));
  return node;
}
function icon(name, cls = 'i') {
  const make = (tag, attributes, ...kids) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...kids);
    return node;
  };
  return make('svg', { class: cls, 'aria-hidden': 'true' }, make('use', { href: `#i-${name}` }));
}
/** Makes inline text act as a button: a real one would not wrap over lines. */
function act(node, label, run) {
  node.tabIndex = 0;
  node.setAttribute('role', 'button');
  if (label) node.setAttribute('aria-label', label);
  node.onclick = (event) => { event.stopPropagation(); run(event); };
  node.onkeydown = (event) => {
    if (event.target !== node || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    run(event);
  };
  return node;
}
/** Makes `parent` hold exactly `nodes` in order, moving as little as possible. */
function reconcile(parent, nodes) {
  const keep = new Set(nodes);
  for (const old of [...parent.childNodes]) if (!keep.has(old)) old.remove();
  nodes.forEach((node, i) => { if (parent.childNodes[i] !== node) parent.insertBefore(node, parent.childNodes[i] ?? null); });
}
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const time = (unix) => clock.format(unix * 1000);
const dayOf = (unix) => new Date(unix * 1000).toDateString();
function dayName(unix) {
  const date = new Date(unix * 1000);
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  if (dayOf(unix) === new Date().toDateString()) return 'Today';
  if (dayOf(unix) === yesterday.toDateString()) return 'Yesterday';
  const year = date.getFullYear() === yesterday.getFullYear() ? undefined : 'numeric';
  return date.toLocaleDateString(undefined, { day: 'numeric', month: 'long', year });
}
const nameOf = (user) => [user?.first_name, user?.last_name].filter(Boolean).join(' ') || 'Someone';
const tone = (id) => `t${Math.abs(id ?? 0) % 7}`;
function initials(name) {
  const words = name.trim().split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return words.slice(0, 2).map((word) => [...word.replace(/^[^\p{L}\p{N}]+/u, '')][0].toUpperCase()).join('') || '#';
}
function avatar(id, name, square) {
  const isBot = id === state.bot?.id;
  const node = el(`span.ava.${isBot ? 't5' : tone(id)}`, { 'aria-hidden': 'true' }, isBot ? icon('figaro', '') : initials(name));
  node.classList.toggle('square', Boolean(square));
  return node;
}
/** Sends JSON or a form to the demo; what it refuses becomes an error in words. */
async function post(path, body) {
  const request = body instanceof FormData ? { body } : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, { method: 'POST', ...request }).catch(() => { throw new Error('the demo does not answer'); });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? 'the demo could not do that');
  return answer;
}
function toast(text, bad) {
  const node = el(`div.toast${bad ? '.bad' : ''}`, null, text);
  // What is read further up stays where it is; the end of the talk does so by itself.
  const inPlace = (change) => {
    const before = $('log').clientHeight;
    change();
    if (!stick) $('log').scrollTop += before - $('log').clientHeight;
  };
  inPlace(() => $('toasts').append(node));
  setTimeout(() => inPlace(() => node.remove()), Math.min(9000, 2600 + text.length * 45));
}
function alertBox(text) { $('alerttext').textContent = text; if (!$('alert').open) $('alert').showModal(); }
/** Asks once before something is done that cannot be undone. */
function ask(question, label, run) {
  $('asktext').textContent = question;
  $('ask').querySelector('[value=yes]').textContent = label;
  $('ask').returnValue = 'no';
  $('ask').onclose = () => { if ($('ask').returnValue === 'yes') run(); };
  $('ask').showModal();
}
const copy = (text) => navigator.clipboard.writeText(text).then(() => toast('Copied'), () => toast('The browser did not allow copying', true));
