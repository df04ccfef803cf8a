import { Registry } from 'prom-client';
import { FakeClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import type { ServiceContext } from '../service.ts';
import { testFolder } from './folder.ts';

/** The context of a service in a test: no log, a clock that stands still, a folder and a registry of its own, and any free port. */
export function testContext(name: string, given: Partial<ServiceContext> = {}): ServiceContext {
  return {
    log: silentLog,
    clock: new FakeClock(),
    dataFolder: given.dataFolder ?? testFolder(name),
    environment: 'test',
    metrics: new Registry(),
    host: '127.0.0.1',
    port: 0,
    ...given,
  };
}
