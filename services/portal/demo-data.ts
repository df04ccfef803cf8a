import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** Names of the services in which nothing was loaded because they hold data of their owner's: the command names its switch there. */
export function leftOut(lines: readonly string[]): string[] {
  return lines.filter((line) => line.includes('--force')).map((line) => line.replace(/:.*/s, ''));
}

/** The state of loading demo data into the services that run here. */
export type DemoDataState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly lines: readonly string[] }
  | { readonly phase: 'done'; readonly lines: readonly string[] }
  | { readonly phase: 'failed'; readonly problem: string };

/** The command that loads demo data, which prints one line for each service. */
export interface SeedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** Runs `octavo seed` as a process of its own, so that the services go on answering, at most once at a time. It ends with the portal. */
export class DemoData implements AsyncDisposable {
  readonly #command: SeedCommand;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #state: DemoDataState = { phase: 'idle' };
  readonly #onLoaded: () => Promise<void>;

  /** @param onLoaded runs before the state is `done` */
  constructor(command: SeedCommand, onLoaded: () => Promise<void>) {
    this.#command = command;
    this.#onLoaded = onLoaded;
  }

  get state(): DemoDataState {
    return this.#state;
  }

  /** @param services those to load it into beside data of their owner's; all others are left alone */
  load(services: readonly string[] = []): void {
    const words = services.length > 0 ? [...services, '--force'] : [];
    this.#running ??= this.#load(words).finally(() => {
      this.#running = undefined;
    });
  }

  async #load(words: readonly string[]): Promise<void> {
    const { file, args, environment: env } = this.#command;
    const lines: string[] = [];
    this.#state = { phase: 'running', lines };
    const { signal } = this.#stopping;
    const child = spawn(file, [...args, ...words], { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    const exit = new Promise<number | null>((resolve) => {
      child.once('exit', resolve).once('error', () => resolve(null));
    });
    const problem = text(child.stderr);
    for await (const line of createInterface({ input: child.stdout })) lines.push(line);
    const code = await exit;
    if (code === 0) await this.#onLoaded();
    this.#state = code === 0 ? { phase: 'done', lines } : { phase: 'failed', problem: await problem };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
