import { hash } from 'node:crypto';
import type { Database } from '#kit/db/index.ts';
import type { Counts, Imported } from './records.ts';
import type { Tables } from './store.ts';
import { claimDemoLoad } from './store.ts';
import { saveRecords } from './store-import.ts';

/** Loads the fictitious firm of `demo.json`. It has the same ids and times whenever it is loaded. */
export async function seedPortfolio(database: Database<Tables>, nowMs: number): Promise<Counts> {
  const demo = await readDemo();
  return database.write(async (store) => {
    await claimDemoLoad(store, nowMs);
    return saveRecords(store, demo, { nowMs, replaces: false });
  });
}

/** Loads it where no data was ever loaded, so that a first question finds something. */
export async function seedFirstStart(database: Database<Tables>, nowMs: number): Promise<void> {
  const demo = await readDemo();
  await database.write(async (store) => {
    if (await claimDemoLoad(store, nowMs)) await saveRecords(store, demo, { nowMs, replaces: false });
  });
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
