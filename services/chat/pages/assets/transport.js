// Asks by Socket.IO, or by HTTP where that does not come through or breaks off. Both ask under the same request_id, which is the same turn.

/** @typedef {{ index: number, title: string, section: string, document_id: string, start: number, end: number }} Source */
/** @typedef {{ tags?: string[], document_ids?: string[], visibility?: string }} Filters */
/** @typedef {{ query: string, strategy: string, request_id: string, session_id?: string, filters?: Filters }} Question */
/** @typedef {{ session_id: string, message_id: string, answer: string }} Answer */
/**
 * Callbacks while an answer is written.
 * @typedef {object} Listener
 * @property {(bySocket: boolean) => void} begin called again where the answer comes from its start once more
 * @property {(id: string) => void} session
 * @property {(stage: string, tool?: string) => void} stage
 * @property {(sources: Source[]) => void} sources
 * @property {(text: string) => void} text
 */
/** @typedef {import('./socket.io.esm.min.js').Socket} Socket */

const connectMs = 2_000;
const acknowledgeMs = 15_000;
const attemptsMax = 4;

/** An error of the server that asking again does not help. */
export class Refusal extends Error {
  /**
   * @param {string} message
   * @param {string} [code]
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** The connection broke, or never was. */
class Lost extends Error {}

/** @type {Promise<Socket | undefined> | undefined} */
let connecting;

/** Connects in good time, so that the first question need not wait for it. */
export function connect() {
  connecting ??= open();
  return connecting;
}

/**
 * The whole answer. Rejects with a `Refusal`, or with another error if there is no connection.
 * @param {Question} question
 * @param {Listener} listener
 * @param {AbortSignal} stopped once aborted, nothing is asked again
 * @returns {Promise<Answer | undefined>} undefined if it was stopped and its outcome is unknown
 */
export async function ask(question, listener, stopped) {
  const socket = await connect();
  for (let attempt = 1; ; attempt++) {
    try {
      const connected = attempt === 1 && socket?.connected ? socket : undefined;
      listener.begin(connected !== undefined);
      return await (connected ? bySocket(connected, question, listener) : byHttp(question, listener));
    } catch (error) {
      // A turn that was stopped would run again.
      if (stopped.aborted) return undefined;
      if (error instanceof Refusal || attempt === attemptsMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, attempt === 1 ? 0 : 2 ** attempt * 125));
    }
  }
}

/**
 * Stops a turn, also one that the server is only about to begin.
 * @param {string} requestId
 */
export async function cancel(requestId) {
  for (let attempt = 1; attempt <= 8; attempt++) {
    const response = await fetch(`/api/chat/${requestId}/cancel`, { method: 'POST' });
    if (response.status !== 404) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** @returns {Promise<Socket | undefined>} */
async function open() {
  try {
    const { io } = await import('./socket.io.esm.min.js');
    const socket = io({ transports: ['websocket', 'polling'], tryAllTransports: true });
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('connect_error', () => resolve(false));
      setTimeout(resolve, connectMs, false);
    });
    if (isOpen) return socket;
    socket.disconnect();
  } catch {
    // A module that cannot be loaded is like a socket that is refused.
  }
  return undefined;
}

/** Progress of a stage in words, if it has parts. */
function progressOf(/** @type {{ done?: number, total?: number }} */ { done, total }) {
  return total === undefined ? undefined : `${done} of ${total}`;
}

/**
 * @param {Socket} socket
 * @param {Question} question
 * @param {Listener} listener
 * @returns {Promise<Answer>}
 */
async function bySocket(socket, question, listener) {
  const { promise, resolve, reject } = Promise.withResolvers();
  let seq = 0;
  /** @type {Record<string, (data: any) => void>} */
  const handlers = {
    status: (data) => listener.stage(data.stage, progressOf(data)),
    tool_call: ({ step }) => listener.stage('calling_tools', step.tool),
    sources: ({ sources }) => listener.sources(sources),
    response_chunk(data) {
      if (data.seq !== seq++) reject(new Lost());
      else listener.text(data.chunk);
    },
    response_complete: resolve,
    response_cancelled: resolve,
    error: ({ message, code }) => reject(new Refusal(message, code)),
  };
  const receive = (/** @type {string} */ name, /** @type {any} */ data) => {
    if (data?.request_id === question.request_id) handlers[name]?.(data);
  };
  const lose = () => reject(new Lost());
  socket.onAny(receive).on('disconnect', lose);
  socket
    .timeout(acknowledgeMs)
    .emit('chat_message', question, (/** @type {unknown} */ late, /** @type {any} */ reply) => {
      if (late) lose();
      else if (!reply.ok) reject(new Refusal(reply.error.message, reply.error.code));
    });
  try {
    return await promise;
  } finally {
    socket.offAny(receive).off('disconnect', lose);
  }
}

/**
 * @param {Question} question
 * @param {Listener} listener
 * @returns {Promise<Answer>}
 */
async function byHttp(question, listener) {
  const response = await fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(question),
  });
  if (!response.ok) throw await refusalOf(response);
  for await (const { event, data } of eventsIn(response)) {
    if (event === 'start') listener.session(data.session_id);
    if (event === 'status') listener.stage(data.stage, progressOf(data));
    if (event === 'tool') listener.stage('calling_tools', data.step.tool);
    if (event === 'sources') listener.sources(data.sources);
    if (event === 'delta') listener.text(data.text);
    if (event === 'error') throw new Refusal(data.message, data.code);
    if (event === 'done') return data;
  }
  throw new Lost();
}

/** @param {Response} response */
async function refusalOf(response) {
  try {
    const { error, request_id: id } = await response.json();
    return new Refusal(`${error.message} (request ${id})`, error.code);
  } catch {
    // Not from the service, but from a proxy before it.
    return new Lost();
  }
}

/** @param {Response} response */
async function* eventsIn(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const messages = (text + value).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const [, event, data] = /^id: \d+\nevent: (\w+)\ndata: (.*)$/s.exec(message) ?? [];
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}
