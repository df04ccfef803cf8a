import { hkdfSync } from 'node:crypto';
import { AppError } from '@octavo/core';
import { Encryption } from '@octavo/core/auth';
import type { Database, Session } from '@octavo/data';
import type { Tables } from '../tables.ts';
import type { Connection } from './connection.ts';

/** Servers that are connected on the page: one that writes answers, one that makes vectors, and one that orders passages. */
export const connectionKinds = ['llm', 'embeddings', 'reranker'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

/** A connection as it is kept, with a mark that changes with it. */
export interface StoredConnection extends Connection {
  readonly mark: string;
  /** True if a key is kept that another secret encrypted. */
  readonly isKeyLost: boolean;
}

/** The connections that administrators made. All processes read them from the database. */
export class Connections {
  readonly #database: Database<Tables>;
  readonly #encryption: Encryption;
  readonly #isShared: boolean;

  /** `hasOwnSecret`: the secret is one of this folder, which other replicas may not have. */
  constructor(
    database: Database<Tables>,
    { secret, hasOwnSecret }: { readonly secret: string; readonly hasOwnSecret: boolean },
  ) {
    this.#database = database;
    this.#encryption = encryptionBy(secret);
    this.#isShared = !hasOwnSecret || database.dialect === 'sqlite';
  }

  /** Reason why none can be kept, as a sentence; undefined if they can. */
  get problem(): string | undefined {
    if (this.#isShared) return undefined;
    return 'Set CHAT_SECRET first, the same for all replicas: it encrypts the key.';
  }

  find(kind: ConnectionKind): Promise<StoredConnection | undefined> {
    return findConnection(this.#database, kind, this.#encryption);
  }

  /** Throws `conflict` where other replicas could not read the key. */
  async save(kind: ConnectionKind, { baseUrl, model, apiKey }: Connection, nowMs: number): Promise<void> {
    if (this.problem !== undefined) throw new AppError('conflict', this.problem);
    const values = {
      base_url: baseUrl,
      model,
      api_key: apiKey === undefined ? null : this.sealKey(kind, baseUrl, apiKey),
      changed_at_ms: nowMs,
    };
    await this.#database.write(({ kysely }) =>
      kysely
        .insertInto('connection')
        .values({ kind, ...values })
        .onConflict((conflict) => conflict.column('kind').doUpdateSet(values))
        .execute(),
    );
  }

  async remove(kind: ConnectionKind): Promise<void> {
    await this.#database.write(({ kysely }) =>
      kysely.deleteFrom('connection').where('kind', '=', kind).execute(),
    );
  }

  /** A key for a form that goes to the browser and back: only for this address can it be opened again. */
  sealKey(kind: ConnectionKind, baseUrl: string, apiKey: string): string {
    return this.#encryption.encrypt(apiKey, placeOf(kind, baseUrl));
  }

  openKey(kind: ConnectionKind, baseUrl: string, sealed: string): string | undefined {
    return this.#encryption.decryptText(sealed, placeOf(kind, baseUrl));
  }
}

/** Finds a connection. Its key is lost without the encryption that it was kept with. */
export async function findConnection(
  { kysely }: Session<Tables>,
  kind: ConnectionKind,
  encryption: Encryption | undefined,
): Promise<StoredConnection | undefined> {
  const row = await kysely.selectFrom('connection').selectAll().where('kind', '=', kind).executeTakeFirst();
  if (!row) return undefined;
  const { base_url: baseUrl, model, api_key: encrypted, changed_at_ms } = row;
  const apiKey = encrypted === null ? undefined : encryption?.decryptText(encrypted, placeOf(kind, baseUrl));
  const isKeyLost = encrypted !== null && apiKey === undefined;
  const mark = [baseUrl, model, encrypted, changed_at_ms].join('\n');
  return { baseUrl, model, apiKey, isKeyLost, mark };
}

/** Encryption of keys by the secret of the service. */
export function encryptionBy(secret: string): Encryption {
  return new Encryption([new Uint8Array(hkdfSync('sha256', secret, '', 'chat connections', 32))]);
}

function placeOf(kind: ConnectionKind, baseUrl: string): string {
  return `connection ${kind} ${baseUrl}`;
}
