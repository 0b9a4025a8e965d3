// ── Bot API calls ──────────────────────────────────────────────────────────────────────────────────
const CALLS_KEPT = 300;
function onCall(call) {
  const { method, args, ok, error, ms, at, n } = call;
  const when = new Date(typeof at === 'number' ? (at < 1e12 ? at * 1000 : at) : at ?? Date.now());
  const took = ms >= 10000 ? `${(ms / 1000).toFixed(0)} s` : `${Math.round(ms ?? 0)} ms`;
  const head = el('summary', { title: `#${n} ${ok ? 'ok' : 'error'}` }, el('code.clip', null, method), el('small', null, took), el('small', null, seconds.format(when)), el('span.sr', null, ok ? 'ok' : 'error'));
  const node = el(`details.fresh${ok ? '' : '.err'}`, null, head);
  node.dataset.n = n;
  node.dataset.method = method.toLowerCase();
  if (error) node.append(el('div.error', null, typeof error === 'string' ? error : `${error.error_code ?? ''} ${error.description ?? JSON.stringify(error)}`.trim()));
  node.addEventListener('toggle', () => node.append(el('pre', null, ...json(args))), { once: true });
  const rows = $('callrows');
  for (const old of rows.children) if (old.dataset.n === String(n)) { old.remove(); break; } // told again after a reconnect
  rows.prepend(node);
  if (rows.children.length > CALLS_KEPT) rows.lastChild.remove();
  sift(node);
  setTimeout(() => node.classList.remove('fresh'), 1500);
  if (!ok && $('calls').hidden) $('showcalls').lastChild.hidden = false;
}
/** Every word of the filter must be in the method's name; one with a minus in front must not. */
function sift(node) {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter((word) => /[^-−]/.test(word));
  node.hidden = !words.every((word) => (/^[-−]/.test(word) ? !node.dataset.method.includes(word.slice(1)) : node.dataset.method.includes(word)));
}
/** Indented JSON as coloured nodes. */
function json(value) {
  const text = JSON.stringify(value ?? {}, null, 2);
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(/("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g)) {
    const kind = match[2] ? 'key' : match[1] ? 'str' : /^[tfn]/.test(match[0]) ? 'word' : 'num';
    const token = match[1] ?? match[0];
    parts.push(text.slice(at, match.index), el(`span.j-${kind}`, null, token));
    at = match.index + token.length;
  }
  return [...parts, text.slice(at)];
}
function toggleCalls(show = $('calls').hidden) {
  $('calls').hidden = !show;
  $('showcalls').setAttribute('aria-pressed', String(show));
  $('showcalls').setAttribute('aria-expanded', String(show));
  if (show) $('showcalls').lastChild.hidden = true;
}
