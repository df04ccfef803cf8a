import { hash } from 'node:crypto';
import type { Database, Session } from '@octavo/data';
import { type Imported, kinds } from './records.ts';
import { findFree, saveRecords } from './store/import.ts';
import { claimDemoLoad, countRecords, isDemoLoadClaimed, type Tables } from './store/store.ts';

/**
 * Loads the records of the fictitious firm of `demo.json` that are not there yet, and returns how many. They have the same ids and
 * times whenever they are loaded. Other records under one of their ids or slugs are left alone.
 */
export async function seedPortfolio(database: Database<Tables>, nowMs: number): Promise<number> {
  const demo = await readDemo();
  return database.write(
    async (store) => {
      await claimDemoLoad(store, nowMs);
      const missing = await missingOf(store, demo);
      const { team, investments, sectors } = await saveRecords(store, missing, { nowMs, replaces: false });
      return team + investments + sectors;
    },
    { alone: true },
  );
}

/**
 * The first start outside production loads it where nothing ever was, so that a first question finds something. Any start settles
 * this for good: what is deleted later does not come back, and a database of production stays its owner's.
 */
export async function seedFirstStart(
  database: Database<Tables>,
  { nowMs, isDemo }: { nowMs: number; isDemo: boolean },
): Promise<void> {
  if (await isDemoLoadClaimed(database)) return;
  const demo = await readDemo();
  await database.write(
    async (store) => {
      if (!(await claimDemoLoad(store, nowMs)) || !isDemo || (await holdsRecords(store))) return;
      await saveRecords(store, demo, { nowMs, replaces: false });
    },
    { alone: true },
  );
}

/** True if there are records and none of them is of the demo data, which would then stand among those of the owner. */
export async function holdsOwnRecords(database: Database<Tables>): Promise<boolean> {
  const demo = await readDemo();
  const missing = await missingOf(database, demo);
  const isUntouched = kinds.every((kind) => missing[kind].length === demo[kind].length);
  return isUntouched && (await holdsRecords(database));
}

async function holdsRecords(store: Session<Tables>): Promise<boolean> {
  const counts = await countRecords(store);
  return kinds.some((kind) => counts[kind] > 0);
}

/** The records whose id and slug are free. */
async function missingOf(store: Session<Tables>, demo: Imported): Promise<Imported> {
  const isMissing = await findFree(store);
  return {
    team: demo.team.filter((each) => isMissing('team', each)),
    sectors: demo.sectors.filter((each) => isMissing('sectors', each)),
    investments: demo.investments.filter((each) => isMissing('investments', each)),
  };
}

async function readDemo(): Promise<Imported> {
  const { default: demo } = await import('./demo.json', { with: { type: 'json' } });
  return {
    team: demo.team.map((member) => ({ ...member, ...identity('team', member.slug, member.joined_on) })),
    sectors: demo.sectors.map((sector) => ({ ...sector, ...identity('sectors', sector.slug, '2015-06-01') })),
    investments: demo.investments.map((deal) => ({
      ...(deal as Imported['investments'][number]),
      ...identity('investments', deal.slug, deal.exited_on ?? deal.invested_on),
    })),
  };
}

/** A UUID of version 7 for a day, which is the same each time, and a time of that day. */
function identity(kind: string, slug: string, day: string): { id: string; updated_at: string } {
  const digest = hash('sha256', `${kind}/${slug}`);
  const ms = Date.parse(`${day}T08:00:00Z`) + (Number.parseInt(digest.slice(0, 6), 16) % 36_000) * 1_000;
  const time = ms.toString(16).padStart(12, '0');
  const variant = '89ab'[Number.parseInt(digest[19] ?? '0', 16) % 4];
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${digest.slice(16, 19)}-${variant}${digest.slice(20, 23)}-${digest.slice(24, 36)}`;
  return { id, updated_at: new Date(ms).toISOString() };
}
