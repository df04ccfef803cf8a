import { existsSync } from 'node:fs';

/** Paths of Chromium, the headless shell first: it takes half of the processor's time. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Path of Chromium: `CHROMIUM_PATH`, else the usual places of Debian and others; undefined if there is none. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM_PATH ?? '', ...places].find((path) => path && existsSync(path));
}

/** Flags of all browsers of tests. No sandbox, because tests often run as root in a container. No network access except to the pages under test. */
export const browserFlags: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
