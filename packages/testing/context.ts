import { type Environment, FakeClock, type Log } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { ServiceContext } from '@octavo/data/service';
import { Registry } from 'prom-client';
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

/** Options with which each service starts in a test; those of a service are a choice of these. */
export interface StartOptions<Started = unknown> {
  /** Settings that differ from those of tests. */
  readonly environment?: Environment;
  readonly nodeEnv?: ServiceContext['environment'];
  readonly log?: Log;
  /** The data folder of an earlier start. */
  readonly folder?: string;
  /** Runs as another process on the data of this one. */
  readonly beside?: Started;
}
