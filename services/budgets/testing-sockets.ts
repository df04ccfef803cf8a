import { WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: a test inspects any message
type Message = any;

/** The client of a WebSocket whose messages are JSON, with those that came and were not taken yet. */
export class SocketClient {
  readonly socket: WebSocket;
  /** The code that the connection was closed with, or the status of a refused upgrade. */
  readonly closed: Promise<number>;
  readonly #messages: Message[] = [];
  #wake: () => void = () => {};

  constructor(
    url: string,
    {
      protocols = [],
      headers = {},
    }: { protocols?: string[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    this.socket = new WebSocket(url.replace('http', 'ws'), protocols, { headers });
    this.socket.on('message', (data, isBinary) => {
      this.#messages.push(isBinary ? { type: 'a binary frame' } : JSON.parse(String(data)));
      this.#wake();
    });
    const { promise, resolve } = Promise.withResolvers<number>();
    this.closed = promise;
    this.socket.on('close', resolve);
    this.socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    this.socket.on('error', () => {});
  }

  /** Sends a text as it is, and anything else as JSON. */
  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Resolves when the connection is open. */
  async opened(): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING)
      await new Promise((resolve) => this.socket.once('open', resolve));
  }

  async next(): Promise<Message> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#messages.shift();
  }
}
