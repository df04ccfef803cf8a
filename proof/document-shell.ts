import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { testFolder } from '@octavo/testing';
import { quick } from './command-line.ts';
import { root } from './documents.ts';

/** A command that was recorded instead of being run. */
export interface Recorded {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface ShellOptions {
  /** Replacements for parts of the commands, such as other ports. */
  readonly replace?: readonly (readonly [string | RegExp, string])[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Resolves when the commands have done enough and are to be stopped. */
  readonly until?: () => Promise<void>;
}

export interface ShellResult {
  readonly code: number | null;
  readonly output: string;
  readonly calls: readonly Recorded[];
}

/**
 * A copy of the project in which commands of documents are run by a real shell. `npx octavo` runs octavo. Programs that need an engine
 * or take minutes are recorded only; `curl` also fails at an HTTP error.
 */
export class DocumentShell {
  readonly folder = testFolder('documents');
  readonly #bin = testFolder('bin');
  readonly #log = join(this.#bin, 'calls.log');

  constructor() {
    for (const name of readdirSync(root)) {
      if (name === 'deploy') cpSync(join(root, name), join(this.folder, name), { recursive: true });
      else if (name !== '.git') symlinkSync(join(root, name), join(this.folder, name));
    }
    this.#add('octavo', `exec node ${join(root, 'apps/octavo/octavo.js')} "$@"`);
    this.#add('npx', `if [ "$1" = octavo ]; then ${record('"$@"')}; exec "$@"; else ${record('"$@"')}; fi`);
    this.#add('openssl', 'echo 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');
    for (const program of ['npm', 'docker', 'kubectl', 'sudo']) this.#add(program, record('"$@"'));
    const curl = (process.env.PATH ?? '').split(delimiter).find((folder) => existsSync(join(folder, 'curl')));
    if (curl)
      this.#add(
        'curl',
        `exec ${join(curl, 'curl')} --fail-with-body --silent --show-error --write-out '\\n' "$@"`,
      );
  }

  async run(text: string, options: ShellOptions = {}): Promise<ShellResult> {
    const { replace = [], environment = {}, until } = options;
    const script = replace.reduce((commands, [from, to]) => commands.replaceAll(from, to), text);
    writeFileSync(this.#log, '');
    const PATH = [this.#bin, dirname(process.execPath), process.env.PATH].join(delimiter);
    // A group of its own, which holds what the commands leave in the background.
    const child = spawn('bash', ['--norc', '-eo', 'pipefail', '-c', script], {
      cwd: this.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...quick, PATH, ...environment, CALLS: this.#log },
    });
    const output = this.#collect(child);
    const ended = once(child, 'close') as Promise<[number | null]>;
    const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), runMs);
    try {
      if (until) {
        await Promise.race([until(), ended]);
        process.kill(-(child.pid as number), 'SIGTERM');
      }
      const [code] = await ended;
      return { code, output: output(), calls: this.#calls() };
    } finally {
      clearTimeout(timer);
    }
  }

  #add(name: string, script: string): void {
    const file = join(this.#bin, name);
    writeFileSync(file, `#!/bin/bash\n${script}\n`);
    chmodSync(file, 0o755);
  }

  #calls(): Recorded[] {
    const lines = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Recorded);
  }

  #collect({ stdout, stderr }: ReturnType<typeof spawn>): () => string {
    let output = '';
    for (const stream of [stdout, stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    return () => output;
  }
}

const runMs = 240_000;

/** A line of shell that writes the program, its arguments and what the test of a mode reads from the environment. */
function record(args: string): string {
  const script = `const { TEST_DATABASE, TEST_RPC } = process.env;
    const call = { program: process.argv[1], args: process.argv.slice(2), environment: { TEST_DATABASE, TEST_RPC } };
    require('fs').appendFileSync(process.env.CALLS, JSON.stringify(call) + '\\n');`;
  return `node -e ${JSON.stringify(script.replaceAll('\n', ' '))} -- "$(basename "$0")" ${args}`;
}
