import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { browserFlags, findChromium } from './chromium.ts';

/** A browser for tests: `describe('in a browser', { skip: browser.skip }, …)`. */
export interface TestBrowser {
  /** False, or why the tests are skipped. */
  readonly skip: false | string;
  /** A tab with its own profile, closed after the tests of the file. */
  open(options?: TabOptions): Promise<Tab>;
}

export interface TabOptions {
  /** Width of the window, 1280 by default; 390 is a phone. */
  readonly widthPx?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** Font size in the settings of the browser, 16 by default. */
  readonly fontPx?: number;
  /** False for a browser without JavaScript. */
  readonly javaScript?: boolean;
  /** The origin that relative addresses in tests refer to. */
  readonly baseUrl?: string;
}

export interface Tab {
  readonly page: Page;
  /** Problems that the browser reported: script errors, violations of the Content-Security-Policy, failed loads. */
  readonly complaints: readonly string[];
  /** Accessibility problems (axe, impact serious or critical), and horizontal scrolling. */
  barriers(): Promise<string[]>;
}

/** Finds Chromium. If there is none, the tests are skipped; with `CI=true` that is an error. The browser starts with the first tab. */
export function testBrowser(): TestBrowser {
  const executablePath = findChromium();
  const skip = executablePath
    ? false
    : 'Chromium is not installed (apt install chromium-headless-shell, or set CHROMIUM_PATH)';
  if (skip && process.env.CI === 'true') throw new Error(skip);
  const tabs: Tab[] = [];
  after(() => Promise.all(tabs.map(({ page }) => page.context().close())));
  return {
    skip,
    async open(options = {}) {
      started ??= launch(executablePath);
      const tab = await openTab(await started, options);
      tabs.push(tab);
      return tab;
    },
  };
}

/** The browser of all files of the process. */
let started: Promise<Browser> | undefined;

/** Loads Playwright, which takes a second, only where a tab is opened. */
async function launch(executablePath: string | undefined): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ ...(executablePath ? { executablePath } : {}), args: [...browserFlags] });
}

// At the end of all tests of the process, not of the file that asked for it first.
after(async () => (await started)?.close());

async function openTab(browser: Browser, options: TabOptions): Promise<Tab> {
  const { widthPx = 1280, colorScheme = 'light', fontPx, javaScript = true, baseUrl } = options;
  const profile: BrowserContextOptions = {
    viewport: { width: widthPx, height: widthPx < 600 ? 844 : 800 },
    colorScheme,
    javaScriptEnabled: javaScript,
    timezoneId: 'Asia/Kolkata',
    locale: 'en-GB',
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  };
  const context = await browser.newContext(profile);
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  if (fontPx !== undefined) {
    const session = await context.newCDPSession(page);
    await session.send('Page.setFontSizes', { fontSizes: { standard: fontPx } });
  }
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const { url } = message.location();
    complaints.push(URL.canParse(url) ? `${message.text()} at ${new URL(url).pathname}` : message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints, barriers: () => barriersOf(page) };
}

async function barriersOf(page: Page): Promise<string[]> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const violations = (await page.evaluate(`${axe}; axe.run({ resultTypes: ['violations'] })`)) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  const serious = violations.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const lines = serious.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`),
  );
  const excessPx = (await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )) as number;
  return excessPx > 0 ? [...lines, `the page is ${excessPx} px wider than the window`] : lines;
}

export { type BrowserProcess, startBrowserProcess } from './browser-process.ts';
export { findChromium } from './chromium.ts';
