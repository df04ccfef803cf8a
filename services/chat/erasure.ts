import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import { forgetPeople } from '@octavo/people/sign-in';
import { hideDocumentsOf } from './documents/index.ts';
import { forgetLeft, leftPeople, markLeft } from './gate/index.ts';
import { personOwner } from './owner.ts';
import { deleteSessionsOf } from './sessions/index.ts';
import { endSharesOf } from './sharing/index.ts';
import type { Tables } from './tables.ts';
import { deleteTurnsOf } from './turns/index.ts';

/** Requests that were under way have ended after so long. */
const keptMs = 86_400_000;

/** Erases a person with their chats and documents: at once for everybody; the texts are then removed in slices. */
export async function erasePerson(
  { database, clock }: { database: Database<Tables>; clock: Clock },
  account: string,
): Promise<void> {
  const nowMs = clock.now();
  await database.write(async (session) => {
    await forgetPeople(session, '', [account], nowMs);
    await markLeft(session, account, nowMs);
    await endSharesOf(session, personOwner(account));
  });
  await eraseData(database, account);
}

/** Removes what requests that were under way wrote for people who had left, or what was left by a process that ended. */
export async function completeErasures(database: Database<Tables>, nowMs: number): Promise<void> {
  for (const { account } of await leftPeople(database)) await eraseData(database, account);
  await forgetLeft(database, nowMs - keptMs);
}

async function eraseData(database: Database<Tables>, account: string): Promise<void> {
  const owner = personOwner(account);
  await hideDocumentsOf(database, owner);
  while ((await deleteSessionsOf(database, owner)) > 0);
  await deleteTurnsOf(database, owner);
}
