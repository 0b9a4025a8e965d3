// Ties the pages to Telegram when a client shows them as a Mini App: sign-in, colours, back button and haptics.
// Events: https://docs.telegram-mini-apps.com/platform/methods
'use strict';

(() => {
  const root = document.documentElement;
  const kept = 'figaro.mini-app.theme';
  let first = null;

  const isInClient = Boolean(window.TelegramWebviewProxy) || (window.external && 'notify' in window.external) || window.parent !== window;
  const tell = (type, data = {}) => {
    if (window.TelegramWebviewProxy) window.TelegramWebviewProxy.postEvent(type, JSON.stringify(data));
    else if (window.external && 'notify' in window.external) window.external.notify(JSON.stringify({ eventType: type, eventData: data }));
    else if (window.parent !== window) window.parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), '*');
  };

  /** Red, green and blue of `#rrggbb`, from 0 to 1; nothing for other words. */
  const parts = (colour) => /^#[0-9a-f]{6}$/i.test(colour) && [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  /** Contrast of WCAG 2.2, from 1 to 21. */
  const contrast = (one, other) => {
    const [less, more] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (more + 0.05) / (less + 0.05);
  };
  const mixed = (one, other, share) => one.map((part, at) => part + (other[at] - part) * share);
  const hex = (rgb) => `#${rgb.map((part) => Math.round(part * 255).toString(16).padStart(2, '0')).join('')}`;

  /** Moves a colour away from its backgrounds until it can be read: themes have hints that are too pale for small text. */
  const legible = (colour, backgrounds) => {
    const end = luminance(backgrounds[0]) > 0.18 ? [0, 0, 0] : [1, 1, 1];
    for (let share = 0; share < 1; share += 0.05) {
      const one = mixed(colour, end, share);
      if (backgrounds.every((background) => contrast(one, background) >= 4.6)) return one;
    }
    return end;
  };

  /** Shows the pages in the colours of the client, if it names any. */
  const colour = (theme) => {
    const of = (name) => parts(theme?.[name] ?? '');
    const back = of('bg_color');
    const text = of('text_color');
    if (!back || !text) return;
    const front = of('section_bg_color') || back;
    const space = mixed(back, text, 0.07);
    const note = mixed(back, parts('#f0c040'), 0.18);
    const grounds = [back, front, space, note];
    const accent = legible(of('accent_text_color') || of('link_color') || text, grounds);
    const [white, black] = [[1, 1, 1], [0, 0, 0]];
    const colours = {
      back, front, space, note, accent,
      line: mixed(back, text, 0.15),
      text: legible(text, grounds),
      muted: legible(of('hint_color') || text, grounds),
      bar: mixed(back, accent, 0.8),
      'on-accent': contrast(accent, white) > contrast(accent, black) ? white : black,
      bad: legible(of('destructive_text_color') || parts('#d02020'), grounds),
    };
    Object.entries(colours).forEach(([name, value]) => root.style.setProperty(`--${name}`, hex(value)));
    root.style.colorScheme = luminance(back) < 0.18 ? 'dark' : 'light';
    tell('web_app_set_header_color', { color: hex(back) });
    tell('web_app_set_background_color', { color: hex(back) });
  };

  const read = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  };

  // Browsers may forbid a frame to keep anything. The colours are ours then, from the second page on.
  const keep = (theme) => {
    colour(theme);
    try {
      sessionStorage.setItem(kept, JSON.stringify(theme));
    } catch {}
  };
  const known = () => {
    try {
      return read(sessionStorage.getItem(kept));
    } catch {
      return null;
    }
  };

  const showBack = () => tell('web_app_setup_back_button', { is_visible: location.pathname !== first.pathname });

  /** Goes to the page above: to the one that a page names, from one of a list to its list, from a list to the first page. */
  const back = () => {
    if (!first) return;
    const named = document.querySelector('main a[rel="up"]');
    if (named) {
      location.href = named.href;
      return;
    }
    const above = document.querySelector('nav [aria-current]');
    const isList = !above || new URL(above.href).pathname === location.pathname;
    location.href = isList ? first.href : above.href;
  };

  const hear = (type, data) => {
    if (type === 'back_button_pressed') back();
    if (type === 'theme_changed') keep(data?.theme_params);
  };
  // Each kind of client calls another one.
  window.TelegramGameProxy = { receiveEvent: hear };
  window.TelegramGameProxy_receiveEvent = hear;
  window.Telegram = { WebView: { receiveEvent: hear } };
  window.addEventListener('message', (event) => {
    if (event.source !== window.parent) return;
    const told = read(event.data);
    if (told) hear(told.eventType, told.eventData);
  });
  document.addEventListener('sent', (event) => {
    const kind = event.detail ? 'success' : 'error';
    tell('web_app_trigger_haptic_feedback', { type: 'notification', notification_type: kind });
    showBack();
  });

  /** Signs in, and gives what to tell the person if that fails. */
  const signIn = async (initData) => {
    const { offline, noCookies } = document.body.dataset;
    const body = new URLSearchParams({ init_data: initData, is_framed: window.parent !== window });
    try {
      const answer = await fetch(location.pathname, { method: 'POST', body });
      if (!answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
        return page.querySelector('main p')?.textContent || offline;
      }
      const page = await fetch(first);
      return page.status === 401 ? noCookies : null;
    } catch {
      return offline;
    }
  };

  /** Signs in with the data behind the `#`, and goes on to the first page. A link that somebody sends opens no client. */
  const launch = async (status) => {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const initData = fragment.get('tgWebAppData');
    if (initData && isInClient) {
      status.textContent = '';
      keep(read(fragment.get('tgWebAppThemeParams')));
      const fault = await signIn(initData);
      if (!fault) {
        location.replace(first);
        return;
      }
      status.textContent = fault;
    }
    tell('web_app_ready');
  };

  colour(known());
  document.addEventListener('DOMContentLoaded', () => {
    first = new URL(document.body.dataset.first, location);
    tell('iframe_ready');
    tell('web_app_expand');
    const status = document.getElementById('launch');
    if (status) {
      launch(status);
      return;
    }
    tell('web_app_ready');
    showBack();
  });
})();
