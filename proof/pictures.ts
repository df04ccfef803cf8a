import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@octavo/core/log';
import { findChromium } from '@octavo/testing/browser';
import { type BrowserContext, chromium } from 'playwright-core';
import { seeds, startSystem, upNames } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';

/** The page of each service that the README shows, with the user name of its demo account if it needs one. */
export const pages: Readonly<Record<string, { readonly path: string; readonly as?: string }>> = {
  portal: { path: '/' },
  gateway: { path: '/analysis', as: 'editor' },
  tokens: { path: '/' },
  passwordless: { path: '/' },
  polls: { path: '/polls/2/results/' },
  quotes: { path: '/' },
  budgets: { path: '/budgets', as: 'demo@example.com' },
  chat: { path: '/documents' },
  portfolio: { path: '/' },
};

/** Color schemes that each page is shown in. */
export const schemes = ['light', 'dark'] as const;
/** Folder of the pictures that the README shows. */
export const folder = join(import.meta.dirname, '../docs/pictures');

const postCount = 150;
const triesMax = 20;

/** File name of a picture. */
export function fileOf(name: string, scheme: string): string {
  return `${name}-${scheme}.png`;
}

/** Starts everything with demo data in a folder of its own, and writes the pictures of these services. Throws if a page is not there. */
export async function takePictures(target: string, names = Object.keys(pages)): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(pages, name));
  if (unknown.length > 0)
    throw new Error(`${unknown} has no picture; those with one are ${Object.keys(pages)}`);
  mkdirSync(target, { recursive: true });
  const data = mkdtempSync(join(tmpdir(), 'octavo-pictures-'));
  const executablePath = findChromium();
  try {
    await using system = await startDemo(data);
    const browser = await chromium.launch({
      args: ['--no-sandbox'],
      ...(executablePath && { executablePath }),
    });
    try {
      for (const colorScheme of schemes) {
        const viewport = { width: 1040, height: 680 };
        const context = await browser.newContext({
          viewport,
          colorScheme,
          locale: 'en-US',
          timezoneId: 'UTC',
        });
        for (const name of names)
          await take(context, system, { name, file: join(target, fileOf(name, colorScheme)) });
      }
    } finally {
      await browser.close();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function startDemo(data: string): Promise<System> {
  const environment = {
    OCTAVO_DATA: data,
    LOG_LEVEL: 'silent',
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_PASSES: '1',
    PORT: '0',
  };
  for (const seed of Object.values(seeds))
    await seed(environment, { count: postCount, isForced: false, onProgress: () => {} });
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  return startSystem(names, { environment, ports, log: silentLog, hasOneSignIn: true });
}

async function take(
  context: BrowserContext,
  system: System,
  { name, file }: { readonly name: string; readonly file: string },
): Promise<void> {
  const { path, as } = pages[name] as (typeof pages)[string];
  const url = system.sites().find((site) => site.name === name)?.url ?? '';
  const page = await context.newPage();
  if (as !== undefined) {
    const account = (await system.demoSignIns()).find(
      ({ service, username }) => service === name && username === as,
    );
    await page.goto(url + path);
    await page.locator('input[name="username"], input[name="email"]').fill(as);
    await page.locator('input[name="password"]').fill(account?.password ?? '');
    await page.locator('input[name="password"]').press('Enter');
    await page
      .locator('form[data-sign-out], form[action$="sign-out"]')
      .first()
      .waitFor({ state: 'attached' });
  }
  const response = await page.goto(url + path);
  if (response?.status() !== 200) throw new Error(`${name}: ${path} answers ${response?.status()}`);
  // While the services start, the portal waits for no answer for long.
  for (let tries = 0; tries < triesMax && (await page.getByText('Does not respond').count()) > 0; tries++)
    await page.reload();
  await page.screenshot({ path: file, animations: 'disabled' });
  await page.close();
}

if (import.meta.main) {
  const names = process.argv.slice(2);
  await takePictures(folder, names.length > 0 ? names : undefined);
}
