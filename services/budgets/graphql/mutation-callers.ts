import type { OperationDefinitionNode } from 'graphql';
import { type Caller, type Context, runCommand } from '../commands.ts';

/**
 * The callers of the mutations in a request. With an Idempotency-Key each of them happens once: its key is that of the request with
 * its position, since mutations run one after another.
 */
export class MutationCallers {
  readonly #context: Context;
  readonly #caller: Caller;
  #position = 0;

  constructor(context: Context, caller: Caller) {
    this.#context = context;
    this.#caller = caller;
  }

  /** Claims the key before the first mutation. Throws `conflict` if another request has it. */
  async claim(operation: OperationDefinitionNode | null | undefined): Promise<void> {
    if (operation?.operation !== 'mutation' || !this.#caller.idempotency) return;
    await runCommand(this.#context, this.#withKey('request'), async () => null);
  }

  /** The caller of the next mutation. */
  next(): Caller {
    return this.#withKey(this.#position++);
  }

  #withKey(part: string | number): Caller {
    const { idempotency, ...caller } = this.#caller;
    // No other key has spaces.
    return idempotency
      ? { ...caller, idempotency: { ...idempotency, key: `graphql ${part} ${idempotency.key}` } }
      : caller;
  }
}
