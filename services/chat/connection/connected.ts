import type { Connection } from './connection.ts';
import type { ConnectionKind, Connections } from './store.ts';

export interface ConnectedOptions<Server> {
  readonly kind: ConnectionKind;
  /** The server that the environment names. */
  readonly set: Connection | undefined;
  readonly connections: Connections;
  readonly open: (connection: Connection) => Server;
}

/** A server that the chat uses, with its address. */
export interface UsedServer<Server> {
  readonly server: Server;
  readonly connection: Connection;
}

/** A server that the chat uses: that of the environment, else the one that an administrator connected. */
export class Connected<Server> {
  readonly #options: ConnectedOptions<Server>;
  /** True if the environment decides. */
  readonly isSet: boolean;
  #mark: string | undefined;
  #used: UsedServer<Server> | undefined;

  constructor(options: ConnectedOptions<Server>) {
    const { set } = options;
    this.#options = options;
    this.isSet = set !== undefined;
    this.#used = set && { server: options.open(set), connection: set };
  }

  /** The server as it was last known, without asking the database. */
  get known(): Server | undefined {
    return this.#used?.server;
  }

  /** The server to use now: the same object until another is connected. */
  async current(): Promise<Server | undefined> {
    return (await this.used())?.server;
  }

  /** The server to use now, with its address. Another process may have connected it. */
  async used(): Promise<UsedServer<Server> | undefined> {
    if (this.isSet) return this.#used;
    const stored = await this.#options.connections.find(this.#options.kind);
    if (stored?.mark !== this.#mark) {
      this.#mark = stored?.mark;
      this.#used = stored && { server: this.open(stored), connection: stored };
    }
    return this.#used;
  }

  /** A server that is not kept. */
  open(connection: Connection): Server {
    return this.#options.open(connection);
  }
}
