import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { browserFlags, findChromium } from './chromium.ts';

/** A browser with a process and a profile of its own, which keeps what pages stored. */
export interface BrowserProcess extends AsyncDisposable {
  readonly page: Page;
  /** Closes it as people do. Chromium writes service workers to the profile only then. */
  close(): Promise<void>;
  /** Ends it at once, as when a phone runs out of power. */
  kill(): Promise<void>;
}

/** Starts a browser. Call it only where {@link findChromium} finds one. */
export async function startBrowserProcess(profileFolder: string): Promise<BrowserProcess> {
  const { chromium } = await import('playwright-core');
  const args = [...browserFlags, '--remote-debugging-port=0', `--user-data-dir=${profileFolder}`];
  const child = spawn(findChromium() ?? 'chromium', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  let connection: Browser | undefined;
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
    // Its own processes, which end a little later, have this open too.
    child.stderr.destroy();
    await connection?.close().catch(() => undefined);
  };
  try {
    connection = await chromium.connectOverCDP(await addressOf(child.stderr));
    const browser = connection;
    const [context] = browser.contexts();
    if (!context) throw new Error('the browser has no profile');
    context.setDefaultTimeout(30_000);
    const close = async () => {
      await (await browser.newBrowserCDPSession()).send('Browser.close');
      await exited;
    };
    return { page: await context.newPage(), close, kill, [Symbol.asyncDispose]: kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const [, address] = /^DevTools listening on (\S+)/.exec(line) ?? [];
    if (address) {
      output.resume();
      return address;
    }
  }
  throw new Error('the browser did not start');
}
