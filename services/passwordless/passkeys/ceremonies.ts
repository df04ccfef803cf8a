import type { Clock } from '@octavo/core';
import { newId, newSecret } from '@octavo/core';
import type { Database, Session } from '@octavo/data';
import type { CeremonyRow, Tables } from '../store/store.ts';
import { passkeyErrors } from './errors.ts';
import { ceremonyTtlMs } from './passkey.ts';
import { consumeCeremony, insertCeremony } from './store.ts';

/** Purpose of a challenge. */
export interface Ceremony {
  readonly id: string;
  readonly kind: CeremonyRow['kind'];
  readonly challenge: string;
  /** User of the registration; undefined if it must not succeed. */
  readonly userId?: string | undefined;
  /** The session whose token asked for a registration. */
  readonly sessionId?: string | undefined;
  /** The ids that a sign-in offered; undefined where it named no address, so that any passkey will do. */
  readonly offered?: readonly string[] | undefined;
}

/** Stores a new challenge of 32 random bytes. It can be answered once, within five minutes. */
export async function beginCeremony(
  session: Session<Tables>,
  clock: Clock,
  about: Pick<Ceremony, 'kind' | 'userId' | 'sessionId' | 'offered'>,
): Promise<Ceremony> {
  const ceremony = { id: newId(), challenge: newSecret(), ...about };
  await insertCeremony(session, {
    id: ceremony.id,
    kind: about.kind,
    challenge: ceremony.challenge,
    user_id: about.userId ?? null,
    session_id: about.sessionId ?? null,
    offered: about.offered ? JSON.stringify(about.offered) : null,
    expires_at_ms: clock.now() + ceremonyTtlMs,
  });
  return ceremony;
}

/** Deletes a ceremony before its response is checked, so that a challenge can be tried once. Throws INVALID_CEREMONY. */
export async function endCeremony(
  database: Database<Tables>,
  clock: Clock,
  { id, kind }: Pick<Ceremony, 'id' | 'kind'>,
): Promise<Ceremony> {
  const row = uuid.test(id) ? await consumeCeremony(database, id, kind) : undefined;
  if (!row || row.expires_at_ms <= clock.now()) throw passkeyErrors.invalidCeremony();
  return {
    id,
    kind,
    challenge: row.challenge,
    userId: row.user_id ?? undefined,
    sessionId: row.session_id ?? undefined,
    offered: row.offered === null ? undefined : JSON.parse(row.offered),
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
