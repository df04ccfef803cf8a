import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@octavo/core';
import { type DatabaseOptions, readDatabase } from '@octavo/data';
import { embeddingService } from '../embeddings/index.ts';
import { contextOf } from '../model/index.ts';
import { CrossEncoder } from '../retrieval/index.ts';
import type { Tables } from '../tables.ts';
import type { Connection } from './connection.ts';
import { checkListed, ServerProblem, tryEmbeddings } from './probe.ts';
import {
  type ConnectionKind,
  connectionKinds,
  encryptionBy,
  findConnection,
  type StoredConnection,
} from './store.ts';

/** A server that the chat uses, as it answers now. */
export interface ServerCheck {
  /** The setting that names the server, or what it is on the settings page. */
  readonly source: string;
  /** A sentence without a full stop. */
  readonly text: string;
  readonly isWorking: boolean;
  /** Remedy for a server that does not work. */
  readonly fix: string;
}

/** The settings that name servers. */
export interface ServerSettings {
  readonly LLM_BASE_URL?: string | undefined;
  readonly LLM_MODEL?: string | undefined;
  readonly LLM_API_KEY?: string | undefined;
  readonly EMBEDDING_BASE_URL?: string | undefined;
  readonly EMBEDDING_MODEL?: string | undefined;
  readonly EMBEDDING_API_KEY?: string | undefined;
  readonly EMBEDDING_DIMENSIONS?: number | undefined;
  readonly RERANK_BASE_URL?: string | undefined;
  readonly RERANK_MODEL?: string | undefined;
  readonly RERANK_API_KEY?: string | undefined;
}

/** Asks the servers of the settings if they are there and have the models. Each is asked once, for nothing that costs. */
export async function checkServers(settings: ServerSettings, clock: Clock): Promise<ServerCheck[]> {
  const { LLM_BASE_URL: llm, EMBEDDING_BASE_URL: embedding, RERANK_BASE_URL: reranker } = settings;
  const asked: Promise<ServerCheck>[] = [];
  if (llm !== undefined)
    asked.push(
      checkSet('LLM', () =>
        modelsAt({ baseUrl: llm, apiKey: settings.LLM_API_KEY, model: settings.LLM_MODEL ?? '' }),
      ),
    );
  if (embedding !== undefined)
    asked.push(
      checkSet('EMBEDDING', () =>
        embeddingsAt(
          { baseUrl: embedding, apiKey: settings.EMBEDDING_API_KEY, model: settings.EMBEDDING_MODEL ?? '' },
          settings,
          clock,
        ),
      ),
    );
  if (reranker !== undefined)
    asked.push(
      checkSet('RERANK', () =>
        rerankerAt({
          baseUrl: reranker,
          apiKey: settings.RERANK_API_KEY,
          model: settings.RERANK_MODEL,
          clock,
        }),
      ),
    );
  return Promise.all(asked);
}

/** The database of the chat, and the file of its secret if no setting has it. */
export interface ConnectionPlace {
  readonly database: DatabaseOptions;
  readonly secret: string | undefined;
  readonly secretFile: string;
}

/**
 * Asks the servers that administrators connected on the settings page, but for those that settings replace. The database is only read;
 * undefined where there is none yet. Throws `unavailable` if it cannot be read.
 */
export async function checkConnections(
  settings: ServerSettings,
  { database, secret, secretFile }: ConnectionPlace,
  clock: Clock,
): Promise<ServerCheck[] | undefined> {
  const key = secret ?? (await storedIn(join(database.folder, secretFile)));
  const stored = await readDatabase<Tables, [ConnectionKind, StoredConnection][]>(
    database,
    async (session, tables) => {
      // Databases of earlier versions have no such table.
      if (!tables.has('connection')) return [];
      const found: [ConnectionKind, StoredConnection][] = [];
      for (const kind of connectionKinds) {
        const connection = await findConnection(
          session,
          kind,
          key === undefined ? undefined : encryptionBy(key),
        );
        if (connection) found.push([kind, connection]);
      }
      return found;
    },
  );
  return (
    stored && Promise.all(stored.map(([kind, connection]) => checkStored(settings, kind, connection, clock)))
  );
}

const kinds = {
  llm: { noun: 'language model', setting: 'LLM_BASE_URL' },
  embeddings: { noun: 'embeddings', setting: 'EMBEDDING_BASE_URL' },
  reranker: { noun: 'reranker', setting: 'RERANK_BASE_URL' },
} as const;

async function checkStored(
  settings: ServerSettings,
  kind: ConnectionKind,
  { isKeyLost, ...connection }: StoredConnection,
  clock: Clock,
): Promise<ServerCheck> {
  const { noun, setting } = kinds[kind];
  const source = `${noun} of /settings`;
  const fix = 'start the server, or connect one at /settings of the chat';
  if (settings[setting] !== undefined)
    return { source, text: `not used, as ${setting} is set`, isWorking: true, fix };
  if (isKeyLost) {
    const text = 'The key was encrypted with another CHAT_SECRET';
    return {
      source,
      text,
      isWorking: false,
      fix: 'set the former CHAT_SECRET, or enter the key at /settings again',
    };
  }
  return checkNow(source, fix, () => {
    if (kind === 'llm') return modelsAt(connection);
    if (kind === 'embeddings') return embeddingsAt(connection, settings, clock);
    const { baseUrl, apiKey, model } = connection;
    return rerankerAt({ baseUrl, apiKey, model: model || undefined, clock });
  });
}

async function storedIn(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}

function checkSet(prefix: string, check: () => Promise<string>): Promise<ServerCheck> {
  const setting = `${prefix}_BASE_URL`;
  const fix = `start the server, or check ${setting}, ${prefix}_MODEL and ${prefix}_API_KEY`;
  return checkNow(setting, fix, check);
}

async function checkNow(source: string, fix: string, check: () => Promise<string>): Promise<ServerCheck> {
  try {
    return { source, text: await check(), isWorking: true, fix };
  } catch (error) {
    const { name, message } = error as Error;
    const words = name === 'RerankFailure' ? `The reranker ${message}` : message.replace(/\.$/, '');
    return { source, text: words, isWorking: false, fix };
  }
}

/** Throws where it gives no scores. */
async function rerankerAt(options: ConstructorParameters<typeof CrossEncoder>[0]): Promise<string> {
  const encoder = new CrossEncoder(options);
  await encoder.rank('Is it open?', [{ text: 'It is open.', rankScore: 1 }]);
  return `${encoder.name} orders passages`;
}

/** Throws where it gives no vectors, also though it lists the model. */
async function embeddingsAt(
  connection: Connection,
  { EMBEDDING_DIMENSIONS: size }: ServerSettings,
  clock: Clock,
): Promise<string> {
  await checkListed(connection).catch((error: Error) => {
    if (!(error instanceof ServerProblem && error.isWithoutList)) throw error;
  });
  const { dimensions } = await tryEmbeddings(embeddingService({ ...connection, dimensions: size }), clock);
  return `${connection.model} is there, with vectors of ${dimensions} dimensions`;
}

/** Throws where a named model is not listed. */
async function modelsAt(connection: Connection): Promise<string> {
  const names = await checkListed(connection);
  const tokens = await contextOf(connection, names[0] ?? '');
  const context = tokens === undefined ? '' : `, with a context of ${tokens} tokens`;
  return `${names.join(', ')} is there${context}`;
}
