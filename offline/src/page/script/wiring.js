// ── Wiring ─────────────────────────────────────────────────────────────────────────────────────────
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (systemDark.matches ? 'dark' : 'light')) === 'dark';
const paintTheme = () => { $('theme').replaceChildren(icon(isDark() ? 'sun' : 'moon')); tellTheme(); };
$('theme').onclick = () => { document.documentElement.dataset.theme = isDark() ? 'light' : 'dark'; paintTheme(); };
systemDark.onchange = paintTheme;
paintTheme();
$('back').onclick = () => { location.hash = ''; };
$('showcalls').onclick = () => toggleCalls();
$('hidecalls').onclick = () => { toggleCalls(false); $('showcalls').focus(); };
$('filter').oninput = () => [...$('callrows').children].forEach(sift);
$('down').onclick = () => { stick = true; schedule(); };
$('log').onscroll = () => {
  const now = $('log').scrollHeight - $('log').scrollTop - $('log').clientHeight < 50;
  // On the way up, as to a quoted message, the first pixels are still near the bottom: that is not arriving there. And where
  // the talk gets less room, nobody leaves the bottom.
  const isGoing = now ? $('log').scrollTop > lastTop : $('log').scrollTop < lastTop;
  if (now !== stick && isGoing) { stick = now; if (state.open) schedule(); }
  lastTop = $('log').scrollTop;
  $('log').classList.toggle('moving', !now);
  clearTimeout(moving);
  moving = setTimeout(() => $('log').classList.remove('moving'), 1200);
  paintDates();
};
$('log').onkeydown = logKey;
// Whatever grows, a draft, a keyboard, a folded quote or the composer: the bottom stays the bottom.
const pin = new ResizeObserver(() => { if (stick) toBottom(); });
pin.observe($('items'));
pin.observe($('stage'));
$('speak').onclick = () => toggleMenu(speakerItems(), 'Speak as');
$('slash').onclick = () => toggleMenu(commandItems(''), 'Commands');
$('menubutton').onclick = () => openApp(state.open, $('menubutton'));
$('appback').onclick = () => tellApp('back_button_pressed');
$('appclose').onclick = () => $('miniapp').close();
$('miniapp').onclose = appClosed;
window.addEventListener('message', onAppMessage);
$('attach').onclick = () => toggleMenu(attachItems(), 'Attach');
$('stranger').lastChild.onclick = goHome;
$('acts').onkeydown = actsKey;
$('log').addEventListener('wheel', closeActs, { passive: true });
document.addEventListener('pointerdown', (event) => { if (!event.target.closest('#acts')) closeActs(); });
$('input').onpaste = (event) => { if (attachFirst(event.clipboardData.files)) event.preventDefault(); };
$('chat').ondragover = (event) => { if (event.dataTransfer.types.includes('Files')) event.preventDefault(); };
$('chat').ondrop = (event) => { if (attachFirst(event.dataTransfer.files)) event.preventDefault(); };
$('chips').lastElementChild.onclick = () => { state.open.noChips = true; schedule(); };
$('composer').querySelector('form').onsubmit = (event) => { event.preventDefault(); submit(); };
$('input').oninput = typed;
$('input').onkeydown = composerKey;
document.addEventListener('keydown', pageKey);
document.addEventListener('pointerdown', (event) => { if (menu && !event.target.closest('#menu, #speak, #attach, #slash, #input')) setMenu(null); });
document.addEventListener('visibilitychange', () => { if (!document.hidden) schedule(); });
window.addEventListener('hashchange', route);
phone.onchange = route;
narrow.onchange = () => { if (narrow.matches) toggleCalls(false); };
toggleCalls(innerWidth >= 1200);
connect();
