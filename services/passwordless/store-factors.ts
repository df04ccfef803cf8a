import { statement, type WriteSession } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

const wiping = (
  ['totp', 'recovery_code', 'session', 'passkey', 'passkey_ceremony', 'passkey_holder'] as const
).map((table) =>
  statement<Tables, { userId: string }>((db, p) =>
    db.deleteFrom(table).where('user_id', '=', p('userId') as never),
  ),
);

/** Takes from a user every way to sign in and every session. */
export async function wipeFactors(session: WriteSession<Tables>, userId: string): Promise<void> {
  for (const wipe of wiping) await wipe.run(session, { userId });
}

/** What a user signs in with besides links. */
export const factorsOf = statement<
  Tables,
  { userId: string },
  { totp: number; passkeys: number; recovery_codes: number }
>((db, p) =>
  db.selectNoFrom((eb) => [
    eb
      .selectFrom('totp')
      .select(eb.fn.countAll<number>().as('n'))
      .where('user_id', '=', p('userId'))
      .where('state', '=', 'active')
      .as('totp'),
    eb
      .selectFrom('passkey')
      .select(eb.fn.countAll<number>().as('n'))
      .where('user_id', '=', p('userId'))
      .as('passkeys'),
    eb
      .selectFrom('recovery_code')
      .select(eb.fn.countAll<number>().as('n'))
      .where('user_id', '=', p('userId'))
      .as('recovery_codes'),
  ]),
);
