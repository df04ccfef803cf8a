// Expenses that were typed without a network, in the browser's database until they are sent.

/**
 * @typedef {object} Kept
 * @property {string} id the id that the server knows it by
 * @property {string} account the account that it belongs to
 * @property {Record<string, string>} fields the form as typed
 * @property {string} keptAt
 * @property {boolean} [isTried] true if it may have reached the server
 * @property {string} [problem] why the server refused it
 */

/** @type {Promise<IDBDatabase> | undefined} */
let opened;

/** @param {Kept} expense */
export function keep(expense) {
  return change((store) => store.put(expense));
}

/** @param {string} id */
export function drop(id) {
  return change((store) => store.delete(id));
}

/**
 * The expenses of an account, oldest first.
 * @param {string} account
 * @returns {Promise<Kept[]>}
 */
export async function listKept(account) {
  const store = (await open()).transaction('kept').objectStore('kept');
  const request = store.index('account').getAll(account);
  /** @type {Kept[]} */
  const kept = await new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return kept.sort((one, other) => one.keptAt.localeCompare(other.keptAt));
}

/** @param {(store: IDBObjectStore) => void} work */
async function change(work) {
  // Strict: an expense is on the disk before the page says that it is kept.
  const transaction = (await open()).transaction('kept', 'readwrite', { durability: 'strict' });
  work(transaction.objectStore('kept'));
  await new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}

function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('budgets', 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('kept', { keyPath: 'id' }).createIndex('account', 'account');
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}
