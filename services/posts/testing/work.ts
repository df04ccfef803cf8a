import { randomBytes } from 'node:crypto';
import { describe } from 'node:test';
import type { Environment } from '@octavo/core';
import {
  type PostServiceDefinition,
  type Reanalysis,
  ReanalysisStatus,
} from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import { until } from '@octavo/testing';
import { natsIsMissing, startTestNats, type TestNats } from '@octavo/testing/engines';
import { inTestMode, type World } from './testing.ts';

/** A world with a worker; with NATS where `nats` is its server. */
export interface WorkWorld extends World {
  readonly nats: TestNats | undefined;
}

/** Runs tests with jobs and events in tables and in NATS, in the mode that the environment names. */
export function onEveryBroker(tests: (world: WorkWorld) => void): Promise<void> {
  return inTestMode((world) => withBrokers(world, tests));
}

/** Runs the tests with the work done by other processes, for each kind of calls. */
export function inEachProcess(tests: (world: WorkWorld) => void): Promise<void> {
  return inTestMode((world) => withBrokers({ ...world, remote: false }, tests));
}

function withBrokers(world: World, tests: (world: WorkWorld) => void): void {
  const work = { POSTS_WORKER: 'on', JOB_LEASE_MS: '1500' };
  describe('with tables', () => tests({ ...world, settings: work, nats: undefined }));
  describe('with NATS', { skip: natsIsMissing() }, async () => {
    const nats = await startTestNats();
    tests({ ...world, settings: { ...work, NATS_URL: nats.url }, nats });
  });
}

/** The world of one test, with names of its own in NATS: each database counts its events from 1. */
export function fresh(world: WorkWorld, changes: Environment = {}): WorkWorld {
  const NATS_PREFIX = `t${randomBytes(4).toString('hex')}`;
  return { ...world, settings: { ...world.settings, NATS_PREFIX, ...changes } };
}

/** Waits until a reanalysis has ended. */
export async function ended(client: Client<PostServiceDefinition>, id = ''): Promise<Reanalysis> {
  const open: number[] = [
    ReanalysisStatus.REANALYSIS_STATUS_QUEUED,
    ReanalysisStatus.REANALYSIS_STATUS_RUNNING,
  ];
  let found: Reanalysis | undefined;
  await until(async () => {
    found = (await client.getReanalysis({ id })).reanalysis;
    return found !== undefined && !open.includes(found.status);
  });
  return found as Reanalysis;
}
