import type { Clock } from '#kit/clock.ts';
import type { Database, Session } from '#kit/db/index.ts';
import { newId, newSecret } from '#kit/ids.ts';
import { ceremonyTtlMs } from './passkey.ts';
import { passkeyRefusals } from './passkey-refusals.ts';
import type { CeremonyRow } from './passkey-tables.ts';
import { insertCeremony, takeCeremony } from './store-passkeys.ts';
import type { Tables } from './tables.ts';

/** What a challenge was handed out for. */
export interface Ceremony {
  readonly id: string;
  readonly kind: CeremonyRow['kind'];
  readonly challenge: string;
  /** Whom a registration is for; undefined where it is to lead nowhere. */
  readonly userId?: string | undefined;
  /** The session whose token asked for a registration. */
  readonly sessionId?: string | undefined;
  /** A sign-in that named no address. */
  readonly isDiscoverable: boolean;
}

/** Notes a new challenge of 32 random bytes, to be answered once and within five minutes. */
export async function beginCeremony(
  session: Session<Tables>,
  clock: Clock,
  about: Pick<Ceremony, 'kind' | 'userId' | 'sessionId' | 'isDiscoverable'>,
): Promise<Ceremony> {
  const ceremony = { id: newId(), challenge: newSecret(), ...about };
  await insertCeremony.run(session, {
    id: ceremony.id,
    kind: about.kind,
    challenge: ceremony.challenge,
    user_id: about.userId ?? null,
    session_id: about.sessionId ?? null,
    discoverable: Number(about.isDiscoverable),
    expires_at_ms: clock.now() + ceremonyTtlMs,
  });
  return ceremony;
}

/** Takes a ceremony away before its answer is looked at, so that a challenge has one try. Throws INVALID_CEREMONY. */
export async function endCeremony(
  database: Database<Tables>,
  clock: Clock,
  { id, kind }: Pick<Ceremony, 'id' | 'kind'>,
): Promise<Ceremony> {
  const row = uuid.test(id) ? await takeCeremony.first(database, { id, kind }) : undefined;
  if (!row || row.expires_at_ms <= clock.now()) throw passkeyRefusals.invalidCeremony();
  return {
    id,
    kind,
    challenge: row.challenge,
    userId: row.user_id ?? undefined,
    sessionId: row.session_id ?? undefined,
    isDiscoverable: row.discoverable !== 0,
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
