import type { Connection } from './connection.ts';
import type { ConnectionKind, Connections } from './store.ts';

export interface ConnectedOptions<Server> {
  readonly kind: ConnectionKind;
  /** The server that the environment names. */
  readonly set: Server | undefined;
  readonly connections: Connections;
  readonly open: (connection: Connection) => Server;
}

/** A server that the chat uses: that of the environment, else the one that an administrator connected. */
export class Connected<Server> {
  readonly #options: ConnectedOptions<Server>;
  #mark: string | undefined;
  #connected: Server | undefined;

  constructor(options: ConnectedOptions<Server>) {
    this.#options = options;
  }

  /** True if the environment decides. */
  get isSet(): boolean {
    return this.#options.set !== undefined;
  }

  /** The server as it was last known, without asking the database. */
  get known(): Server | undefined {
    return this.#options.set ?? this.#connected;
  }

  /** The server to use now. Another process may have connected it. */
  async current(): Promise<Server | undefined> {
    const { set, connections, kind } = this.#options;
    if (set) return set;
    const stored = await connections.find(kind);
    if (stored?.mark !== this.#mark) {
      this.#mark = stored?.mark;
      this.#connected = stored && this.open(stored);
    }
    return this.#connected;
  }

  /** A server that is not kept. */
  open(connection: Connection): Server {
    return this.#options.open(connection);
  }
}
