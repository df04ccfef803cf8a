import { type Executor, statement } from '#kit/db/index.ts';
import { newSecret } from '#kit/ids.ts';
import type { CeremonyRow, PasskeyRow, Tables } from '../store.ts';
import type { Passkey } from './passkey.ts';

/** A passkey with the user handle that its authenticator knows. */
export type HeldPasskey = Passkey & { readonly handle: string };

export const insertCeremony = statement<Tables, { [K in keyof CeremonyRow]: CeremonyRow[K] }>()((db, p) =>
  db.insertInto('passkey_ceremony').values({
    id: p('id'),
    kind: p('kind'),
    challenge: p('challenge'),
    user_id: p('user_id'),
    session_id: p('session_id'),
    offered: p('offered'),
    expires_at_ms: p('expires_at_ms'),
  }),
);

/** A challenge is used up, whether or not its response is valid. */
export const takeCeremony = statement<Tables, { id: string; kind: CeremonyRow['kind'] }>()((db, p) =>
  db.deleteFrom('passkey_ceremony').where('id', '=', p('id')).where('kind', '=', p('kind')).returningAll(),
);

export const deleteExpiredCeremonies = statement<Tables, { nowMs: number }>()((db, p) =>
  db.deleteFrom('passkey_ceremony').where('expires_at_ms', '<=', p('nowMs')),
);

const insertHolder = statement<Tables, { userId: string; handle: string }>()((db, p) =>
  db
    .insertInto('passkey_holder')
    .values({ user_id: p('userId'), handle: p('handle') })
    .onConflict((conflict) => conflict.column('user_id').doNothing()),
);

const holder = statement<Tables, { userId: string }>()((db, p) =>
  db.selectFrom('passkey_holder').select('handle').where('user_id', '=', p('userId')),
);

/** The user handle (`user.id` of WebAuthn); undefined where no registration was ever begun. */
export async function findHandle(session: Executor, userId: string): Promise<string | undefined> {
  return (await holder.first(session, { userId }))?.handle;
}

/** The user handle (`user.id` of WebAuthn): created on first use, never changed. */
export async function handleOf(session: Executor, userId: string): Promise<string> {
  const known = await findHandle(session, userId);
  if (known !== undefined) return known;
  await insertHolder.run(session, { userId, handle: newSecret() });
  const made = await findHandle(session, userId);
  if (made === undefined) throw new Error('the handle of a user is missing');
  return made;
}

const byId = statement<Tables, { id: string }>()((db, p) =>
  db
    .selectFrom('passkey')
    .innerJoin('passkey_holder', 'passkey_holder.user_id', 'passkey.user_id')
    .selectAll('passkey')
    .select('passkey_holder.handle')
    .where('passkey.id', '=', p('id')),
);

export async function findPasskey(session: Executor, id: string): Promise<HeldPasskey | undefined> {
  const row = await byId.first(session, { id });
  return row && { ...toPasskey(row), handle: row.handle };
}

const ofUser = statement<Tables, { userId: string }>()((db, p) =>
  db
    .selectFrom('passkey')
    .selectAll()
    .where('user_id', '=', p('userId'))
    .orderBy('created_at_ms')
    .orderBy('id'),
);

/** The passkeys of a user, oldest first. */
export async function passkeysOf(session: Executor, userId: string): Promise<Passkey[]> {
  return (await ofUser.all(session, { userId })).map(toPasskey);
}

const ofAddress = statement<Tables, { email: string; limit: number }>()((db, p) =>
  db
    .selectFrom('passkey')
    .innerJoin('user', 'user.id', 'passkey.user_id')
    .select(['passkey.id', 'passkey.transports'])
    .where('user.email', '=', p('email'))
    .orderBy('user.verified', 'desc')
    .orderBy('passkey.created_at_ms')
    .orderBy('passkey.id')
    .limit(p('limit')),
);

/** The passkeys of all users with an address; those of its owner first. */
export async function passkeysOfAddress(
  session: Executor,
  email: string,
  limit: number,
): Promise<Pick<Passkey, 'id' | 'transports'>[]> {
  const rows = await ofAddress.all(session, { email, limit });
  return rows.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) }));
}

export const countPasskeys = statement<Tables, { userId: string }>()((db, p) =>
  db
    .selectFrom('passkey')
    .select((e) => e.fn.countAll<number>().as('passkeys'))
    .where('user_id', '=', p('userId')),
);

const insert = statement<Tables, { [K in keyof PasskeyRow]: PasskeyRow[K] }>()((db, p) =>
  db
    .insertInto('passkey')
    .values({
      id: p('id'),
      user_id: p('user_id'),
      public_key: p('public_key'),
      counter: p('counter'),
      transports: p('transports'),
      name: p('name'),
      backup_eligible: p('backup_eligible'),
      backed_up: p('backed_up'),
      created_at_ms: p('created_at_ms'),
      last_used_at_ms: p('last_used_at_ms'),
    })
    .onConflict((conflict) => conflict.column('id').doNothing()),
);

/** False where the id is taken. */
export async function insertPasskey(session: Executor, passkey: Passkey): Promise<boolean> {
  const { changes } = await insert.run(session, {
    id: passkey.id,
    user_id: passkey.userId,
    public_key: passkey.publicKey,
    counter: passkey.counter,
    transports: JSON.stringify(passkey.transports),
    name: passkey.name,
    backup_eligible: Number(passkey.isBackupEligible),
    backed_up: Number(passkey.isBackedUp),
    created_at_ms: passkey.createdAtMs,
    last_used_at_ms: passkey.lastUsedAtMs ?? null,
  });
  return changes > 0;
}

/**
 * Records a sign-in. It changes no row where the counter did not rise, as when a clone signs in at the same moment.
 * Authenticators that do not count stay at 0.
 */
export const usePasskey = statement<
  Tables,
  { id: string; counter: number; backedUp: number; nowMs: number }
>()((db, p) =>
  db
    .updateTable('passkey')
    .set({ counter: p('counter'), backed_up: p('backedUp'), last_used_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where((e) =>
      e.or([e('counter', '<', p('counter')), e.and([e('counter', '=', 0), e(p('counter'), '=', 0)])]),
    ),
);

const rename = statement<Tables, { id: string; userId: string; name: string }>()((db, p) =>
  db
    .updateTable('passkey')
    .set({ name: p('name') })
    .where('id', '=', p('id'))
    .where('user_id', '=', p('userId'))
    .returningAll(),
);

/** The renamed passkey; undefined where the user has none with that id. */
export async function renamePasskey(
  session: Executor,
  renamed: { id: string; userId: string; name: string },
): Promise<Passkey | undefined> {
  const row = await rename.first(session, renamed);
  return row && toPasskey(row);
}

export const deletePasskey = statement<Tables, { id: string; userId: string }>()((db, p) =>
  db.deleteFrom('passkey').where('id', '=', p('id')).where('user_id', '=', p('userId')),
);

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    publicKey: new Uint8Array(row.public_key),
    counter: row.counter,
    transports: JSON.parse(row.transports),
    name: row.name,
    isBackupEligible: row.backup_eligible !== 0,
    isBackedUp: row.backed_up !== 0,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
  };
}
