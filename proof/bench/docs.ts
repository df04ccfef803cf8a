import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { findChromium } from '@octavo/testing/browser';
import { chromium } from 'playwright-core';
import { startSystem, upNames } from '../../apps/octavo/index.ts';

/**
 * Time until `/docs` of each service can be used on a slow network with a processor four times slower: until an operation is opened by
 * a click, from the start of the navigation. The browser and the services share the machine.
 */

/** Bits a second, and milliseconds from a request to its first byte. */
const networks = {
  '400 kbit/s, 2 s (Slow 3G of Chromium)': { bits: 400_000, latency: 2_000 },
  '400 kbit/s, 400 ms': { bits: 400_000, latency: 400 },
  '1.6 Mbit/s, 150 ms': { bits: 1_600_000, latency: 150 },
} as const;
const cpuRate = 4;

const names = upNames();
const system = await startSystem(names, {
  environment: { NODE_ENV: 'test', OCTAVO_DATA: testFolder('bench-docs') },
  ports: Object.fromEntries(names.map((name) => [name, 0])),
  log: silentLog,
});
const executablePath = findChromium();
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
for (const [network, { bits, latency }] of Object.entries(networks)) {
  for (const { name, url } of system.sites()) {
    // The first request makes the page.
    await (await fetch(`${url}/docs`)).text();
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    const throughput = bits / 8;
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    });
    await session.send('Emulation.setCPUThrottlingRate', { rate: cpuRate });
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(`${url}/docs`, { waitUntil: 'commit' });
    await page.locator('main.document details > summary').first().click();
    await page.locator('main.document details[open]').first().waitFor();
    const seconds = ((await page.evaluate('performance.now()')) as number) / 1_000;
    console.log(`${network}: ${name.padEnd(12)} ${seconds.toFixed(1)} s, ${(bytes / 1_000).toFixed(0)} kB`);
    await context.close();
  }
}
await browser.close();
await system[Symbol.asyncDispose]();
