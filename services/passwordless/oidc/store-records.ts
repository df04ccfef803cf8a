import type { Clock } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import type { Adapter, AdapterPayload, ClientMetadata, errors } from 'oidc-provider';
import type { Tables } from '../store/store.ts';
import { type Client, findClient, hashOf } from './store-clients.ts';

interface AdapterParts {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly errors: typeof errors;
  /** True while a request ends the session of its browser. */
  readonly isSigningOut: () => boolean;
}

/** Stores the state of the library in the database of the service: one row for each model and id. */
export function createAdapter(parts: AdapterParts): (kind: string) => Adapter {
  return (kind) => (kind === 'Client' ? new ClientAdapter(parts) : new RecordAdapter(kind, parts));
}

/** The sign-in of a session, as it was joined. */
type LinkColumns = { readonly [K in 'session_id' | 'outlives']: Tables['oidc_sign_in'][K] | null };

class RecordAdapter implements Adapter {
  readonly #kind: string;
  readonly #parts: AdapterParts;

  constructor(kind: string, parts: AdapterParts) {
    this.#kind = kind;
    this.#parts = parts;
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<undefined> {
    const { database, clock } = this.#parts;
    // Ids are what codes, refresh tokens and cookies hold, so only their hash is stored.
    const { jti: _, ...stored } = payload;
    const values = {
      payload: JSON.stringify(stored),
      grant_id: this.#kind === 'Interaction' ? null : (payload.grantId ?? null),
      session_uid: this.#kind === 'Session' ? (payload.uid ?? null) : null,
      expires_at_ms: clock.now() + expiresInSeconds * 1_000,
    };
    const hash = hashOf(id);
    await database.write(async ({ kysely }) => {
      await kysely
        .insertInto('oidc_record')
        .values({ kind: this.#kind, hash, consumed_at_ms: null, ...values })
        .onConflict((conflict) => conflict.columns(['kind', 'hash']).doUpdateSet(values))
        .execute();
      if (values.session_uid === null) return;
      const { session_uid: uid } = values;
      await kysely
        .deleteFrom('oidc_record')
        .where('session_uid', '=', uid)
        .where('hash', '<>', hash)
        .execute();
    });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const row = await this.#select().where('hash', '=', hashOf(id)).executeTakeFirst();
    return row && this.#served(payloadOf(row, id), row);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const row = await this.#select().where('oidc_record.session_uid', '=', uid).executeTakeFirst();
    return row && this.#served(payloadOf(row, undefined), row);
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  /** Consumes a record; of several uses at the same time, in any replica, one wins. The others end the grant, as a later use would (RFC 9700 section 2.1.1). */
  async consume(id: string): Promise<undefined> {
    const { database, clock, errors } = this.#parts;
    const hash = hashOf(id);
    const isFirst = await database.write(async ({ kysely }) => {
      const used = await kysely
        .updateTable('oidc_record')
        .set({ consumed_at_ms: clock.now() })
        .where('kind', '=', this.#kind)
        .where('hash', '=', hash)
        .where('consumed_at_ms', 'is', null)
        .executeTakeFirstOrThrow();
      if (used.numUpdatedRows > 0n) return true;
      const row = await kysely
        .selectFrom('oidc_record')
        .select('grant_id')
        .where('kind', '=', this.#kind)
        .where('hash', '=', hash)
        .executeTakeFirst();
      if (row?.grant_id) await endGrants({ kysely }, [row.grant_id]);
      return false;
    });
    if (!isFirst) throw new errors.InvalidGrant(`${this.#kind} already used`);
  }

  /**
   * The library gives a session a new id by destroying and saving it. In between, other requests would find it ended, so the old row
   * stays until the new one replaces it.
   */
  async destroy(id: string): Promise<undefined> {
    if (this.#kind === 'Session' && !this.#parts.isSigningOut()) return;
    await this.#parts.database.write(({ kysely }) =>
      kysely
        .deleteFrom('oidc_record')
        .where('kind', '=', this.#kind)
        .where('hash', '=', hashOf(id))
        .execute(),
    );
  }

  async revokeByGrantId(grantId: string): Promise<undefined> {
    await this.#parts.database.write(({ kysely }) =>
      kysely
        .deleteFrom('oidc_record')
        .where('kind', '=', this.#kind)
        .where('grant_id', '=', grantId)
        .execute(),
    );
  }

  #select() {
    return this.#parts.database.kysely
      .selectFrom('oidc_record')
      .leftJoin('oidc_sign_in', 'oidc_sign_in.session_uid', 'oidc_record.session_uid')
      .select(['payload', 'consumed_at_ms', 'session_id', 'outlives'])
      .where('kind', '=', this.#kind);
  }

  /**
   * A session of a user without the sign-in that it came from has ended, from the transaction on that ended the sign-in; also one that a request
   * saves again which began before. Its codes and refresh tokens ask for it, too.
   */
  #served(payload: AdapterPayload, link: Partial<LinkColumns>): AdapterPayload | undefined {
    if (this.#kind !== 'Session' || payload.accountId === undefined) return payload;
    return link.session_id || link.outlives === 1 ? payload : undefined;
  }
}

/** Applications are added by commands and by staff, never by the library. */
class ClientAdapter implements Adapter {
  readonly #parts: AdapterParts;

  constructor(parts: AdapterParts) {
    this.#parts = parts;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const client = await findClient(this.#parts.database, id);
    return client && (metadataOf(client, client.secretHash) as AdapterPayload);
  }

  async upsert(): Promise<undefined> {
    throw new Error('the library does not register applications');
  }

  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async consume(): Promise<undefined> {}
  async destroy(): Promise<undefined> {}
  async revokeByGrantId(): Promise<undefined> {}
}

/** Ends grants, with everything that was issued for them. */
export async function endGrants(
  { kysely }: Pick<WriteSession<Tables>, 'kysely'>,
  grantIds: readonly string[],
): Promise<void> {
  await kysely.deleteFrom('oidc_record').where('grant_id', 'in', grantIds).execute();
  await kysely
    .deleteFrom('oidc_record')
    .where('kind', '=', 'Grant')
    .where('hash', 'in', grantIds.map(hashOf))
    .execute();
}

/** Deletes at most 5,000 expired records. */
export async function deleteExpiredRecords(database: Database<Tables>, beforeMs: number): Promise<void> {
  await database.write(({ kysely }) =>
    kysely
      .deleteFrom('oidc_record')
      .where('expires_at_ms', '<', beforeMs)
      .where('hash', 'in', (eb) =>
        eb.selectFrom('oidc_record').select('hash').where('expires_at_ms', '<', beforeMs).limit(5_000),
      )
      .execute(),
  );
}

function payloadOf(
  row: { payload: string; consumed_at_ms: number | null },
  id: string | undefined,
): AdapterPayload {
  const payload: AdapterPayload = JSON.parse(row.payload);
  if (id !== undefined) payload.jti = id;
  if (row.consumed_at_ms !== null) payload.consumed = Math.floor(row.consumed_at_ms / 1_000);
  return payload;
}

/** The application in the words of OpenID Connect Dynamic Client Registration. The secret is its hash: see `compareClientSecret`. */
function metadataOf(client: Client, secretHash: string | undefined): ClientMetadata {
  return {
    client_id: client.id,
    client_name: client.name,
    ...(secretHash === undefined
      ? { token_endpoint_auth_method: 'none' as const }
      : { client_secret: secretHash, token_endpoint_auth_method: 'client_secret_basic' as const }),
    redirect_uris: [...client.redirects],
    post_logout_redirect_uris: [...client.postLogouts],
    ...(client.backChannel !== undefined && {
      backchannel_logout_uri: client.backChannel,
      backchannel_logout_session_required: true,
    }),
    trusted: client.isFirstParty,
  };
}
