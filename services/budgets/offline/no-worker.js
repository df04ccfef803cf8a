// Takes the place of the worker when the server has turned it off: deletes what that kept, and leaves the browser.
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(leave()));

async function leave() {
  for (const name of await caches.keys()) if (name.startsWith('budgets ')) await caches.delete(name);
  await worker.registration.unregister();
}
