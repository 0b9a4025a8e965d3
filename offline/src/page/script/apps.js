// ── Mini Apps ──────────────────────────────────────────────────────────────────────────────────────
// An app runs in a frame. It and this page send each other JSON texts, as an app and a client of Telegram do.
let running = null; // {frame, opener} of the open app
// Colours of Telegram's themes, and those of the page that stand for them.
const THEME = {
  bg_color: '--pane', secondary_bg_color: '--pane-2', header_bg_color: '--pane', bottom_bar_bg_color: '--pane', section_bg_color: '--pane', section_separator_color: '--line',
  text_color: '--text', hint_color: '--muted', subtitle_text_color: '--muted', link_color: '--accent', accent_text_color: '--accent', section_header_text_color: '--accent',
  button_color: '--accent', button_text_color: '--on-accent', destructive_text_color: '--bad',
};
// Vibrations, and the pauses between them, in ms.
const HAPTICS = { light: 10, medium: 20, heavy: 40, rigid: 15, soft: 15, selection_change: 5, success: [20, 60, 20], warning: [30, 60, 30], error: [40, 50, 40, 50, 40] };

const menusOf = (buttons) => new Map(buttons.map(({ chat_id, button }) => [chat_id, button]));
/** The button beside the composer that opens the app of the bot. */
function paintMenuButton(room) {
  const [node, button] = [$('menubutton'), state.menus.get(room.chat.id)];
  node.hidden = button?.type !== 'web_app';
  if (node.hidden || node.ariaLabel === button.text) return;
  node.ariaLabel = button.text;
  node.lastChild.textContent = button.text;
}
/** The theme in the scheme that the page shows now. */
function themeParams() {
  const probe = document.body.appendChild(el('i', { hidden: true }));
  const hex = (name) => {
    probe.style.color = `var(${name})`;
    const parts = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3);
    return `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;
  };
  const params = Object.fromEntries(Object.entries(THEME).map(([key, name]) => [key, hex(name)]));
  probe.remove();
  return params;
}
/** Opens the app of the menu button, or that of a button of a message: `inline` has its `message_id` and `url`. */
async function openApp(room, opener, inline = null) {
  try {
    const { url } = await post('/demo/app', { from: meIn(room).id, inline, theme: themeParams() });
    if (!running) showApp(url, opener);
  } catch (error) { toast(`Not opened: ${error.message}`, true); }
}
function showApp(url, opener) {
  const panel = $('miniapp');
  // As in Telegram's web clients: an app may not lead this page elsewhere.
  const frame = el('iframe', { title: `App of ${state.bot.first_name}`, src: url, sandbox: 'allow-scripts allow-same-origin allow-forms allow-popups allow-modals' });
  frame.onload = () => { panel.dataset.state = 'ready'; };
  Object.assign(panel.dataset, { state: 'loading', haptics: 0 });
  delete panel.dataset.haptic;
  panel.removeAttribute('style');
  $('appback').hidden = true;
  $('apptitle').textContent = state.bot.first_name;
  panel.append(frame);
  running = { frame, opener };
  setMenu(null);
  panel.showModal();
}
/** Ends the app when its panel has closed. The focus goes back to the button, or into the talk if the button has gone. */
function appClosed() {
  const { frame, opener } = running;
  running = null;
  frame.remove();
  (opener.isConnected ? opener : $('log')).focus();
}
function tellApp(eventType, eventData = null) { running.frame.contentWindow.postMessage(JSON.stringify({ eventType, eventData }), '*'); }
function tellTheme() { if (running) tellApp('theme_changed', { theme_params: themeParams() }); }

/** A colour as an app names it: by its key in the theme, or `#rrggbb`. */
const colorOf = (name) => (Object.hasOwn(THEME, name) ? `var(${THEME[name]})` : /^#[\da-f]{6}$/i.test(name) ? name : null);
function paintHead({ color_key: key, color = key }) {
  const head = colorOf(color);
  if (!head) return;
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const ink = color.startsWith('#') ? (red * .3 + green * .59 + blue * .11 > 140 ? '#10171e' : '#fff') : 'var(--text)';
  $('miniapp').style.setProperty('--head', head);
  $('miniapp').style.setProperty('--ink', ink);
}
function paintGround({ color }) { if (colorOf(color)) $('miniapp').style.setProperty('--ground', colorOf(color)); }
function showBack({ is_visible: isVisible }) {
  if (!isVisible && document.activeElement === $('appback')) $('appclose').focus();
  $('appback').hidden = !isVisible;
}
/** Vibrates where a device can. The panel says what was felt last, and how often something was. */
function feel({ type, impact_style: impact, notification_type: notification }) {
  const name = impact ?? notification ?? type;
  if (!Object.hasOwn(HAPTICS, name)) return;
  const { dataset } = $('miniapp');
  Object.assign(dataset, { haptic: name, haptics: Number(dataset.haptics) + 1 });
  navigator.vibrate?.(HAPTICS[name]);
}
/** Follows a link of an app. One to the bot leads into the talk, as does its start; others open in a tab of their own. */
function follow(target) {
  const url = URL.canParse(target) ? new URL(target) : null;
  if (!['http:', 'https:'].includes(url?.protocol)) return;
  if (!isOfBot(url)) { window.open(url.href, '_blank', 'noopener,noreferrer'); return; }
  $('miniapp').close();
  if (url.searchParams.get('start')) startBot(url.searchParams.get('start'));
}
// Other events, such as `web_app_expand`, ask for what an app here has anyway, or for what the demo has nothing for.
const APP_EVENTS = {
  web_app_ready: () => { $('miniapp').dataset.state = 'ready'; },
  web_app_close: () => $('miniapp').close(),
  web_app_setup_back_button: showBack,
  web_app_trigger_haptic_feedback: feel,
  web_app_set_header_color: paintHead,
  web_app_set_background_color: paintGround,
  web_app_request_theme: tellTheme,
  web_app_open_tg_link: ({ path_full: path }) => follow(`https://t.me${path}`),
  web_app_open_link: ({ url }) => follow(url),
};
function onAppMessage({ source, data }) {
  if (!running || source !== running.frame.contentWindow) return;
  let event = null;
  try { event = JSON.parse(data); } catch { return; }
  if (Object.hasOwn(APP_EVENTS, event?.eventType)) APP_EVENTS[event.eventType](event.eventData ?? {});
}
