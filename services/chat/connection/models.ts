import { ChatModel, type ModelOptions } from '../model/index.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './store.ts';

export const modelKind = 'llm';

/** Options that do not depend on the server. */
export type ModelBounds = Omit<ModelOptions, 'baseUrl' | 'apiKey' | 'names'>;

/** The model that writes answers: that of the environment, else the one that an administrator connected. */
export class Models {
  readonly #set: ChatModel | undefined;
  readonly #connections: Connections;
  readonly #bounds: ModelBounds;
  #mark: string | undefined;
  #connected: ChatModel | undefined;

  constructor(set: ChatModel | undefined, connections: Connections, bounds: ModelBounds) {
    this.#set = set;
    this.#connections = connections;
    this.#bounds = bounds;
  }

  /** True if the environment decides. */
  get isSet(): boolean {
    return this.#set !== undefined;
  }

  /** The model as it was last known, without asking the database. */
  get known(): ChatModel | undefined {
    return this.#set ?? this.#connected;
  }

  /** The model to use now. Another process may have connected it. */
  async current(): Promise<ChatModel | undefined> {
    if (this.#set) return this.#set;
    const stored = await this.#connections.find(modelKind);
    if (stored?.mark !== this.#mark) {
      this.#mark = stored?.mark;
      this.#connected = stored && this.open(stored);
    }
    return this.#connected;
  }

  /** A model at an address that is not kept. */
  open({ baseUrl, apiKey, model }: Connection): ChatModel {
    return new ChatModel({ ...this.#bounds, baseUrl, apiKey, names: [model] });
  }
}
