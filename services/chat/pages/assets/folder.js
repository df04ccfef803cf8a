// Sends the files of a folder to the library. The page of documents and `octavo chat sync` share it.

/**
 * @typedef {object} FolderFile
 * @property {string} path with `/` between its parts
 * @property {number} size in bytes
 * @property {() => Promise<Uint8Array<ArrayBuffer>>} read throws an error for people
 * @property {() => Promise<string | undefined>} hash SHA-256 in hex, undefined if it cannot be told here; throws an error for people
 */

/** In the order of a summary. */
export const outcomes = /** @type {const} */ ([
  'added',
  'changed',
  'removed',
  'unchanged',
  'skipped',
  'refused',
]);
/** @typedef {(typeof outcomes)[number]} Outcome */

/**
 * @typedef {object} FolderOptions
 * @property {string} url of the chat, without a slash at its end
 * @property {Record<string, string>} headers of every request
 * @property {string} collection tag of the documents
 * @property {string | undefined} visibility
 * @property {boolean} removes whether documents of the collection whose files are gone are deleted
 * @property {AbortSignal | undefined} signal
 * @property {(outcome: Outcome, path: string, reason?: string) => void} tell called once for each file and each removed document
 * @property {(text: string, share?: number) => void} progress gets the part that is done, from 0 to 1
 * @property {(seconds: number) => Promise<void>} wait rejects when the signal is aborted
 */

/** @typedef {{ max_file_bytes: number, max_files: number, max_request_bytes: number, extensions: string[] }} Limits */
/** @typedef {{ add: string[], change: string[], unchanged: string[], remove: { document_id: string, filename: string }[] }} Plan */
/** @typedef {{ file: FolderFile, path: string, sha256: string }} Entry */

const filesMax = 10_000;
const batchBytesMax = 16 * 1024 * 1024;
const formBytes = 64 * 1024;
const timeoutMs = 330_000;
const waitSecondsMax = 120;
const tagLengthMax = 60;
/** The hash of bytes that are not known or not sent. The document of the same name stays then. */
const unknownHash = '0'.repeat(64);

/** An error that ends the work on the whole folder, in words for people. */
export class FolderError extends Error {}

/**
 * Returns the tag for documents of a folder with that name.
 * @param {string} name
 */
export function collectionOf(name) {
  const words = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[,\p{C}\s]+/gu, ' ')
    .trim();
  return words.slice(0, tagLengthMax).toWellFormed().trim();
}

/**
 * True for hidden files and folders, and for those that programs keep for themselves.
 * @param {string} path
 */
export function isLeftOut(path) {
  return path.split('/').some((part) => /^(\.|~\$)|^(node_modules|Thumbs\.db|desktop\.ini)$/.test(part));
}

/**
 * Sends files that are new or changed, in batches, and deletes documents whose files are gone. Throws a `FolderError`; what was sent by then
 * stays, and the next run goes on from there.
 * @param {readonly FolderFile[]} files
 * @param {FolderOptions} options
 */
export async function sendFolder(files, options) {
  const limits = /** @type {Limits} */ (await demand('/api/upload', {}, options));
  const { entries, sendable } = await hashAll(files, limits, options);
  const plan = await compare(entries, options);
  if (options.removes && entries.length === 0 && plan.remove.length > 0)
    throw new FolderError('The folder holds no files that can be read, so no documents were deleted.');
  if (options.removes) {
    for (const { document_id, filename } of plan.remove) {
      await remove(document_id, options);
      options.tell('removed', filename);
    }
  }
  const [unchanged, changed] = [new Set(plan.unchanged), new Set(plan.change)];
  for (const { path, file } of entries) if (unchanged.has(path)) options.tell('unchanged', file.path);
  const pending = entries.filter((entry) => sendable.has(entry) && !unchanged.has(entry.path));
  let sent = 0;
  for (const batch of batchesOf(pending, limits)) {
    const last = sent + batch.length;
    options.progress(`Sending ${sent + 1} to ${last} of ${pending.length}`, sent / pending.length);
    await send(batch, changed, options);
    sent = last;
  }
  if (!pending.some(({ path }) => changed.has(path))) return;
  // Replaced documents are found until their successors are.
  const gone = new Set(plan.remove.map(({ document_id }) => document_id));
  for (const { document_id } of (await compare(entries, options)).remove)
    if (!gone.has(document_id)) await remove(document_id, options);
}

/**
 * Returns the files that the library is compared with, and those of them that may be sent.
 * @param {readonly FolderFile[]} files
 * @param {Limits} limits
 * @param {FolderOptions} options
 */
async function hashAll(files, limits, { signal, tell, progress }) {
  const endings = new Set(limits.extensions);
  /** @type {Entry[]} */
  const entries = [];
  /** @type {Set<Entry>} */
  const sendable = new Set();
  for (const [index, file] of files.entries()) {
    signal?.throwIfAborted();
    progress(`Comparing ${index + 1} of ${files.length}`, index / files.length);
    const ending = /[^./]\.([^./]+)$/.exec(file.path)?.[1];
    if (ending !== undefined && !endings.has(ending.toLowerCase())) {
      tell('skipped', file.path, 'not a kind of file that is read here');
      continue;
    }
    const entry = { file, path: sentName(file.path), sha256: unknownHash };
    entries.push(entry);
    try {
      checkSize(file.size, limits);
      entry.sha256 = (await file.hash()) ?? unknownHash;
      sendable.add(entry);
    } catch (error) {
      tell('refused', file.path, /** @type {Error} */ (error).message);
    }
  }
  if (entries.length > filesMax)
    throw new FolderError(`The folder has ${entries.length} files; at most ${filesMax} can be compared.`);
  return { entries, sendable };
}

/**
 * @param {number} size
 * @param {Limits} limits
 */
function checkSize(size, { max_file_bytes: bytesMax }) {
  if (size === 0) throw new FolderError('The file is empty.');
  if (size > bytesMax)
    throw new FolderError(`The file is larger than ${Math.floor(bytesMax / 1024 / 1024)} MB.`);
}

/**
 * A name as forms send it.
 * @param {string} name
 */
function sentName(name) {
  return name.replace(/["\r\n]/g, encodeURIComponent);
}

/**
 * @param {readonly Entry[]} entries
 * @param {FolderOptions} options
 * @returns {Promise<Plan>}
 */
async function compare(entries, options) {
  const { collection: tag, visibility } = options;
  const files = entries.map(({ path, sha256 }) => ({ path, sha256 }));
  const body = JSON.stringify({ files, tag, visibility });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  return /** @type {Plan} */ (await demand('/api/documents/sync', init, options));
}

/**
 * @param {string} id
 * @param {FolderOptions} options
 */
async function remove(id, options) {
  const { status, refusal } = await ask(`/api/documents/${id}`, { method: 'DELETE' }, options);
  if (refusal && status !== 404) throw new FolderError(refusal);
}

/**
 * Parts of a request's size, each with different names, so that a response says which file it means.
 * @param {readonly Entry[]} entries
 * @param {Limits} limits
 */
function batchesOf(entries, { max_files: countMax, max_request_bytes: requestBytesMax }) {
  const bytesMax = Math.min(batchBytesMax, requestBytesMax - formBytes);
  /** @type {Entry[][]} */
  const batches = [];
  let bytes = 0;
  for (const entry of entries) {
    const last = batches.at(-1);
    const { size } = entry.file;
    const isNamesake = last?.some(({ path }) => lastPart(path) === lastPart(entry.path));
    if (!last || last.length >= countMax || bytes + size > bytesMax || isNamesake) {
      batches.push([entry]);
      bytes = size;
    } else {
      last.push(entry);
      bytes += size;
    }
  }
  return batches;
}

/** @param {string} path */
const lastPart = (path) => path.split(/[\\/]/).at(-1) ?? '';

/**
 * Sends a batch; one that is refused as a whole in two halves.
 * @param {readonly Entry[]} batch
 * @param {ReadonlySet<string>} changed
 * @param {FolderOptions} options
 */
async function send(batch, changed, options) {
  const { collection, visibility, tell } = options;
  const form = new FormData();
  for (const [name, value] of Object.entries({ tags: collection, visibility, on_duplicate: 'keep' }))
    if (value !== undefined) form.append(name, value);
  /** @type {Entry[]} */
  const read = [];
  for (const entry of batch) {
    try {
      form.append('file', new Blob([await entry.file.read()]), lastPart(entry.file.path));
      read.push(entry);
    } catch (error) {
      tell('refused', entry.file.path, /** @type {Error} */ (error).message);
    }
  }
  if (read.length === 0) return;
  const { body, refusal } = await ask('/api/upload', { method: 'POST', body: form }, options);
  if (refusal && read.length > 1) {
    const middle = Math.ceil(read.length / 2);
    await send(read.slice(0, middle), changed, options);
    return send(read.slice(middle), changed, options);
  }
  const { documents = [], errors = [] } =
    /** @type {{ documents?: { sha256: string, status: string }[], errors?: { filename: string, message: string }[] }} */ (
      body
    );
  const refused = new Map(errors.map(({ filename, message }) => [filename, message]));
  for (const entry of read) {
    const { path, file } = entry;
    const message = refusal ?? refused.get(lastPart(path));
    const document = message === undefined ? documents.shift() : undefined;
    if (!document) {
      tell('refused', file.path, message ?? 'The chat did not say what became of it.');
      continue;
    }
    entry.sha256 = document.sha256;
    const isKnown = document.status === 'duplicate';
    tell(isKnown ? 'unchanged' : changed.has(path) ? 'changed' : 'added', file.path);
  }
}

/**
 * Returns the JSON of a response that has to come for the work to go on.
 * @param {string} path
 * @param {RequestInit} init
 * @param {FolderOptions} options
 */
async function demand(path, init, options) {
  const { body, refusal } = await ask(path, init, options);
  if (refusal) throw new FolderError(refusal);
  return body;
}

/**
 * Sends a request; again later, if the server is away or asks for that. A refusal is of that request alone.
 * @param {string} path
 * @param {RequestInit} init
 * @param {FolderOptions} options
 * @returns {Promise<{ status: number, body: unknown, refusal?: string }>}
 */
async function ask(path, init, options) {
  const { url, signal, progress, wait } = options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const response = await request(path, init, options);
    const status = response?.status ?? 0;
    const isAway = !response || [429, 502, 503].includes(status);
    if (!isAway) return { status, ...(await resultOf(response, url)) };
    if (attempt >= (response ? 10 : 5))
      throw new FolderError(
        response ? `${url} is too busy (${status}). Try again later.` : `${url} does not answer.`,
      );
    const seconds = Math.min(
      Number(response?.headers.get('retry-after')) || 2 ** (attempt - 1),
      waitSecondsMax,
    );
    progress(`${response ? 'The server asks to wait' : 'The server is away, waiting'} ${seconds} s`);
    await wait(seconds);
  }
}

/**
 * Undefined if no response came.
 * @param {string} path
 * @param {RequestInit} init
 * @param {FolderOptions} options
 */
async function request(path, init, { url, headers, signal }) {
  const timeout = AbortSignal.timeout(timeoutMs);
  const given = /** @type {Record<string, string>} */ (init.headers);
  try {
    return await fetch(url + path, {
      ...init,
      headers: { accept: 'application/json', ...headers, ...given },
      // A key goes to no other address.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) throw new FolderError(`${url} takes too long.`);
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * @param {Response} response
 * @param {string} url
 * @returns {Promise<{ body: unknown, refusal?: string }>}
 */
async function resultOf(response, url) {
  const { status, ok } = response;
  if (status === 204) return { body: undefined };
  if (status < 200 || (status >= 300 && status < 400))
    throw new FolderError(`${url} redirects elsewhere. Use the address that it redirects to.`);
  if (status === 507) throw new FolderError(`${url} has no space left.`);
  const body = await response.json().catch(() => undefined);
  if (ok && typeof body === 'object' && body !== null) return { body };
  const message = body?.error?.message;
  if (ok || (status === 404 && message === undefined)) throw new FolderError(`${url} is not a chat.`);
  const refusal = String(message ?? `The server answers ${status}.`);
  if (status === 401 || status === 403) throw new FolderError(refusal);
  return { body: {}, refusal };
}
