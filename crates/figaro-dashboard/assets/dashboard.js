// Keeps the page up to date and sends its forms without loading it anew. Every page works without this script.
'use strict';

(() => {
  const body = document.body;
  let tag = null;
  let busy = false;
  let again = false;

  /** Returns true while a person writes or reads something that a new page would take away. */
  const occupied = () => {
    const at = document.activeElement;
    const writes = at && at.matches('input, textarea, select') && document.querySelector('main').contains(at);
    return writes || !document.getSelection().isCollapsed;
  };

  /** Places of the opened parts of the page, so that they stay open. */
  const opened = () => [...document.querySelectorAll('main details')].map((one) => one.open);

  const show = (text, keepsPlace) => {
    const page = new DOMParser().parseFromString(text, 'text/html');
    const next = page.querySelector('main');
    const now = document.querySelector('main');
    if (!next || !page.body.dataset.events) {
      location.reload();
      return;
    }
    const open = opened();
    const focus = document.activeElement && document.activeElement.id;
    now.replaceWith(next);
    if (keepsPlace) {
      const parts = next.querySelectorAll('details');
      if (parts.length === open.length) parts.forEach((part, at) => { part.open = open[at]; });
      if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
    }
    const nav = page.querySelector('nav');
    if (nav) document.querySelector('nav').replaceWith(nav);
    document.title = page.title;
  };

  const refresh = async () => {
    if (busy) {
      again = true;
      return;
    }
    if (document.hidden || occupied()) return;
    busy = true;
    try {
      const headers = tag ? { 'If-None-Match': tag } : {};
      const answer = await fetch(location.href, { headers, cache: 'no-store' });
      if (answer.status === 304) return;
      if (answer.status === 401) {
        location.reload();
        return;
      }
      if (!answer.ok) return;
      tag = answer.headers.get('ETag');
      show(await answer.text(), true);
    } catch {
      // The stream of news tells whether there is a connection.
    } finally {
      busy = false;
      if (again) {
        again = false;
        refresh();
      }
    }
  };

  const listen = () => {
    const news = new EventSource(body.dataset.events);
    news.addEventListener('changed', refresh);
    news.onopen = () => { body.classList.remove('offline'); refresh(); };
    news.onerror = () => {
      body.classList.add('offline');
      if (news.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
    };
  };

  document.addEventListener('submit', async (event) => {
    const form = event.target;
    if (form.method !== 'post' || form.closest('header')) return;
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    try {
      const answer = await fetch(form.getAttribute('action'), { method: 'POST', body: new URLSearchParams(new FormData(form)) });
      if (answer.status === 401) {
        location.reload();
        return;
      }
      const url = new URL(answer.url);
      if (answer.redirected && url.pathname !== location.pathname) history.pushState(null, '', answer.url);
      tag = null;
      const text = await answer.text();
      if (answer.ok) {
        show(text, false);
        document.getElementById('told')?.focus();
      } else {
        location.reload();
      }
    } catch {
      button.disabled = false;
      body.classList.add('offline');
    }
  });

  window.addEventListener('popstate', () => location.reload());
  document.addEventListener('visibilitychange', refresh);
  document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  listen();
})();
