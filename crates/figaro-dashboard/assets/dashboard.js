// Keeps the page up to date and sends its forms without loading it anew. Every page works without this script.
'use strict';

(() => {
  const { body } = document;
  const { events } = body.dataset;
  if (!events) return;
  // The page may become that of another address, to which relative addresses would no longer lead.
  const news = new URL(events, location).href;
  const told = document.getElementById('told');
  const content = () => document.querySelector('main');
  let tag = null;
  let stream = null;
  let asking = null;
  let isSending = false;
  let isDue = false;

  /** Tells that a new page would take away what a person writes, reads or is about to press. */
  const isOccupied = () => {
    const at = document.activeElement;
    const isIn = at && content().contains(at);
    const isChanged = [...content().querySelectorAll('input, textarea')].some((field) => field.value !== field.defaultValue);
    return isSending || isChanged || (isIn && at.matches('input, textarea, button, summary'))
      || content().querySelector('button:active') || !document.getSelection().isCollapsed;
  };

  const absolute = (root) => root.querySelectorAll('header [href], header [action]').forEach((one) => {
    const name = one.hasAttribute('href') ? 'href' : 'action';
    one.setAttribute(name, new URL(one.getAttribute(name), location).href);
  });

  /** Shows a page, and tells whether it is one of these. */
  const show = (text) => {
    const page = new DOMParser().parseFromString(text, 'text/html');
    const next = page.querySelector('main');
    if (!next || !page.body.dataset.events) return false;
    const open = new Set([...content().querySelectorAll('details[open][id]')].map((one) => one.id));
    content().replaceWith(next);
    next.querySelectorAll('details[id]').forEach((one) => { if (open.has(one.id)) one.open = true; });
    document.title = page.title;
    const links = page.querySelector('nav');
    document.querySelector('nav').replaceWith(links);
    absolute(document);
    return page;
  };

  const tell = (words) => { if (words) told.textContent = words; };

  const refresh = async () => {
    if (document.hidden) return;
    if (isOccupied() || asking) {
      isDue = true;
      return;
    }
    isDue = false;
    asking = new AbortController();
    try {
      const headers = tag ? { 'If-None-Match': tag } : {};
      const answer = await fetch(location.href, { headers, cache: 'no-store', signal: asking.signal });
      if (answer.status === 401) location.reload();
      if (!answer.ok || isOccupied()) return;
      const text = await answer.text();
      if (isSending) return;
      tag = answer.headers.get('ETag');
      show(text);
    } catch {
      // The stream of news tells whether there is a connection.
    } finally {
      asking = null;
    }
  };

  const listen = () => {
    stream?.close();
    stream = null;
    if (document.hidden) return;
    stream = new EventSource(news);
    stream.addEventListener('changed', refresh);
    stream.onopen = () => {
      body.classList.remove('offline');
      refresh();
    };
    stream.onerror = () => {
      body.classList.add('offline');
      if (stream?.readyState !== EventSource.CLOSED) return;
      // Perhaps the browser is signed out, which the page says itself.
      refresh();
      setTimeout(() => { if (stream?.readyState === EventSource.CLOSED) listen(); }, 5000);
    };
  };

  const send = async (form, button) => {
    isSending = true;
    asking?.abort();
    if (button) button.disabled = true;
    try {
      const action = new URL(form.getAttribute('action'), location);
      const answer = await fetch(action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
      const text = await answer.text();
      if (answer.status === 401) location.reload();
      if (answer.redirected && new URL(answer.url).pathname !== location.pathname) history.pushState(null, '', answer.url);
      const page = answer.ok ? show(text) : new DOMParser().parseFromString(text, 'text/html');
      if (!page) location.reload();
      else tell((answer.ok ? page.getElementById('told') : page.querySelector('main p'))?.textContent.trim());
      tag = null;
      told.focus();
      document.dispatchEvent(new CustomEvent('sent', { detail: answer.ok }));
    } catch {
      body.classList.add('offline');
      document.dispatchEvent(new CustomEvent('sent', { detail: false }));
    } finally {
      isSending = false;
      if (button) button.disabled = false;
    }
  };

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.method !== 'post' || 'leaves' in form.dataset || !content().contains(form)) return;
    event.preventDefault();
    if (!isSending) send(form, event.submitter);
  });

  let shown = location.pathname + location.search;
  window.addEventListener('popstate', () => {
    // A link to a part of the page moves there and changes nothing else.
    if (location.pathname + location.search !== shown) location.reload();
    shown = location.pathname + location.search;
  });
  document.addEventListener('visibilitychange', listen);
  setInterval(() => { if (isDue) refresh(); }, 700);
  absolute(document);
  document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  listen();
})();
