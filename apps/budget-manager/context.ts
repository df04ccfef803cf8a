import type { Client } from './client.ts';
import type { Arguments } from './options.ts';
import type { Output } from './output.ts';

/** Arguments of a command. */
export interface Context {
  readonly operands: readonly string[];
  readonly options: Arguments['options'];
  readonly output: Output;
  /** Calls the service, signed in unless the command is public. */
  readonly client: Client;
}
