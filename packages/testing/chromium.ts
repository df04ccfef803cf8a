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
