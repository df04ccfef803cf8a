// Keeps the pages last seen by one account, and the files that they need, for when there is no network. The caches are named by the version
// of the files and by the account, and those of any other are deleted. A page that asks for a sign-in deletes the pages.
// The server puts the options in their place; `packages/web/tsconfig.worker.json` checks the types.
const options = { version: '', files: [''], start: [''], fallback: '', signIn: '' };

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const prefix = 'budgets ';
const filesCache = `${prefix}${options.version} files`;
const pagesMax = 60;
/** A network that says nothing for so long counts as none, if the page is here. */
const patienceMs = 6_000;
/** Goes up when pages are deleted: one that was on its way is not kept then. */
let generation = 0;

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('message', (event) => {
  if (event.data === 'clear') event.waitUntil(clear().then(() => event.ports[0]?.postMessage('cleared')));
});
worker.addEventListener('fetch', (event) => {
  const { method, url, mode } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== 'GET' || origin !== location.origin) return;
  if (pathname.startsWith('/assets/')) event.respondWith(fileAt(event.request));
  else if (mode === 'navigate') event.respondWith(pageFor(event));
});

async function install() {
  const cache = await caches.open(filesCache);
  await cache.addAll([...options.files, options.fallback]);
  await worker.skipWaiting();
}

async function activate() {
  for (const name of await ownCaches()) {
    if (!name.startsWith(`${prefix}${options.version} `)) await caches.delete(name);
  }
  await worker.clients.claim();
  await keepStart();
}

/** @param {Request} request */
async function fileAt(request) {
  const cache = await caches.open(filesCache);
  const kept = await cache.match(request.url, { ignoreVary: true });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok && request.url.includes(`/assets/${options.version}/`))
    await cache.put(request.url, response.clone());
  return response;
}

/** @param {FetchEvent} event */
async function pageFor(event) {
  const { request } = event;
  const started = generation;
  const network = fetch(request).then(
    (response) => {
      if (isNoNetwork(response)) return undefined;
      event.waitUntil(look(request.url, response.clone(), started));
      return response;
    },
    () => undefined,
  );
  event.waitUntil(network);
  const response = (await Promise.race([network, after(patienceMs)])) ?? (await keptPage(request.url));
  const last = response ?? (await network) ?? (await caches.match(options.fallback, { ignoreVary: true }));
  return last ?? Response.error();
}

/**
 * Answers of a proxy whose server is away.
 * @param {Response} response
 */
function isNoNetwork({ status }) {
  return status === 502 || status === 504;
}

/** @param {string} url */
async function keptPage(url) {
  for (const name of await pageCaches()) {
    const page = await (await caches.open(name)).match(url, { ignoreVary: true });
    if (page) return page;
  }
  return undefined;
}

/**
 * Keeps a page of an account. Deletes all of them if the visitor is signed out.
 * @param {string} url
 * @param {Response} response
 * @param {number} started
 * @param {boolean} [isStart] true for one of the pages that people begin with
 */
async function look(url, response, started, isStart = false) {
  if (response.status === 401 || new URL(url).pathname === options.signIn) return clear();
  const isPage = response.headers.get('content-type')?.startsWith('text/html');
  if (!response.ok || !isPage) return;
  const text = await response.text();
  const account = /<html [^>]*data-account="([\w-]+)"/.exec(text.slice(0, 500))?.[1];
  if (!account || generation !== started) return;
  const name = `${prefix}${options.version} account ${account}`;
  for (const other of await pageCaches()) if (other !== name) await caches.delete(other);
  await keep(name, url, { text, headers: response.headers });
  if (generation !== started) await caches.delete(name);
  else if (!isStart && !(await keptPage(options.start[0] ?? ''))) await keepStart();
}

/**
 * @param {string} name
 * @param {string} url
 * @param {{ text: string, headers: Headers }} page
 */
async function keep(name, url, { text, headers }) {
  const cache = await caches.open(name);
  const kept = new Headers(headers);
  for (const header of ['content-encoding', 'content-length']) kept.delete(header);
  const marked = text.replace('<html ', `<html data-kept="${new Date().toISOString()}" `);
  await cache.delete(url, { ignoreVary: true });
  await cache.put(url, new Response(marked, { headers: kept }));
  const old = (await cache.keys()).slice(0, -pagesMax);
  for (const key of old) if (!options.start.includes(new URL(key.url).pathname)) await cache.delete(key);
}

/** Keeps the pages that people begin with before they open them, if someone is signed in. */
async function keepStart() {
  for (const path of options.start) {
    const started = generation;
    try {
      const response = await fetch(path, { headers: { accept: 'text/html' } });
      await look(new URL(path, location.href).href, response, started, true);
    } catch {
      // The page is kept when it is opened.
    }
  }
}

async function clear() {
  generation++;
  for (const name of await pageCaches()) await caches.delete(name);
}

async function ownCaches() {
  return (await caches.keys()).filter((name) => name.startsWith(prefix));
}

async function pageCaches() {
  return (await ownCaches()).filter((name) => name !== filesCache);
}

/**
 * @param {number} ms
 * @returns {Promise<undefined>}
 */
function after(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
