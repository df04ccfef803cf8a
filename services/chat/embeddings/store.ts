import type { Database, Session } from '@octavo/data';
import { sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { packVector } from './vector.ts';

type Store = Session<Tables>;

const sliceRows = 500;

/** A model as it is known to the database. */
export interface StoredModel {
  readonly id: number;
  /** The size of its vectors; 0 until the first is there. */
  readonly dimensions: number;
}

/** A name, and the size of vectors that is asked for; 0 if the service decides. */
interface WantedModel {
  readonly name: string;
  readonly requested: number;
}

/** The model as it is known; one without vectors if it is not. */
export async function findModel(store: Store, { name, requested }: WantedModel): Promise<StoredModel> {
  const found = store.kysely.selectFrom('embedding_model').select(['id', 'dimensions']);
  const row = await found.where('name', '=', name).where('requested', '=', requested).executeTakeFirst();
  return row ?? { id: 0, dimensions: 0 };
}

/** Makes a model the one that documents get. */
export async function chooseModel(
  database: Database<Tables>,
  { name, requested }: WantedModel,
  nowMs: number,
): Promise<StoredModel> {
  return database.write(async ({ kysely }) => {
    const values = { name, requested, dimensions: requested, choice: 0, used_at_ms: nowMs };
    const insert = kysely.insertInto('embedding_model').values(values);
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
    return kysely
      .updateTable('embedding_model')
      .set({ choice: nextChoice, used_at_ms: nowMs })
      .where('name', '=', name)
      .where('requested', '=', requested)
      .returning(['id', 'dimensions'])
      .executeTakeFirstOrThrow();
  });
}

/** Interval at which a process reports its model, and the time after which an unreported model counts as given up. */
const usedMs = 60_000;
const unusedMs = 5 * usedMs;

/**
 * Returns true if documents get vectors of this model. During an update, processes with different models share the database:
 * the model that was chosen last counts until no process has had it for a while.
 */
export async function isChosen(database: Database<Tables>, model: number, nowMs: number): Promise<boolean> {
  const models = database.kysely.selectFrom('embedding_model').select(['id', 'used_at_ms']);
  const last = await models.orderBy('choice', 'desc').limit(1).executeTakeFirst();
  if (!last) return false;
  const isOwn = last.id === model;
  if (nowMs - last.used_at_ms < (isOwn ? usedMs : unusedMs)) return isOwn;
  const result = await database.write(({ kysely }) =>
    kysely
      .updateTable('embedding_model')
      .set({ used_at_ms: nowMs, ...(!isOwn && { choice: nextChoice }) })
      .where('id', '=', model)
      .executeTakeFirst(),
  );
  return Number(result.numUpdatedRows) > 0;
}

const nextChoice = sql<number>`(SELECT max(choice) + 1 FROM embedding_model)`;

/** Stores the size of the first vectors, and returns the stored size, as another process may have been first. */
export async function settleDimensions(
  database: Database<Tables>,
  model: number,
  dimensions: number,
): Promise<number> {
  return database.write(async (session) => {
    const unknown = session.kysely
      .updateTable('embedding_model')
      .where('id', '=', model)
      .where('dimensions', '=', 0);
    await unknown.set({ dimensions }).execute();
    return dimensionsOf(session, model);
  });
}

/** The size of the vectors of a model; 0 as long as there is none. */
export async function dimensionsOf(store: Store, model: number): Promise<number> {
  const row = store.kysely.selectFrom('embedding_model').select('dimensions').where('id', '=', model);
  return (await row.executeTakeFirst())?.dimensions ?? 0;
}

/** Returns true if documents wait for vectors, or vectors of other models wait to be removed. */
export async function hasWork(store: Store, model: number): Promise<boolean> {
  if ((await waitingDocuments(store, model, 1)).length > 0) return true;
  const others = store.kysely.selectFrom('embedding_model').select('id').where('id', '!=', model).limit(1);
  return (await others.execute()).length > 0;
}

/** Documents of which not all chunks have a vector of the model. */
export async function waitingDocuments(store: Store, model: number, limit: number): Promise<number[]> {
  const rows = await store.kysely
    .selectFrom('document')
    .select('id')
    .where('status', '=', 'indexed')
    .where(({ eb, or }) => or([eb('embedding_model', '<', model), eb('embedding_model', '>', model)]))
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** A chunk without a vector, with what its vector is made of. */
export interface WaitingChunk {
  readonly id: number;
  readonly place: number;
  readonly title: string;
  readonly section: string;
  readonly text: string;
}

/** The next chunks of a document that have no vector. */
export function waitingChunks(
  store: Store,
  { model, document, after, limit }: { model: number; document: number; after: number; limit: number },
): Promise<WaitingChunk[]> {
  return store.kysely
    .selectFrom('chunk')
    .innerJoin('document', 'document.id', 'chunk.document')
    .select(['chunk.id', 'chunk.place', 'document.title', 'chunk.section', 'chunk.text'])
    .where('chunk.document', '=', document)
    .where('chunk.place', '>', after)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('chunk_embedding')
            .select('chunk')
            .whereRef('chunk_embedding.chunk', '=', 'chunk.id')
            .where('chunk_embedding.model', '=', model),
        ),
      ),
    )
    .orderBy('chunk.place')
    .limit(limit)
    .execute();
}

/**
 * Stores vectors, and makes documents searchable by them once they are complete. Deleted chunks are left out. Returns false, without
 * storing anything, if another model has been chosen since.
 */
export function insertVectors(
  database: Database<Tables>,
  model: number,
  { vectors, complete }: { vectors: ReadonlyMap<number, Float32Array>; complete: readonly number[] },
): Promise<boolean> {
  return database.write(async ({ kysely }) => {
    const newest = kysely.selectFrom('embedding_model').select('id').orderBy('choice', 'desc').limit(1);
    if ((await newest.executeTakeFirst())?.id !== model) return false;
    const ids = [...vectors.keys()];
    const present =
      ids.length === 0 ? [] : await kysely.selectFrom('chunk').select('id').where('id', 'in', ids).execute();
    const rows = present.map(({ id }) => ({
      chunk: id,
      model,
      vector: packVector(vectors.get(id) as Float32Array),
    }));
    if (rows.length > 0) {
      const insert = kysely.insertInto('chunk_embedding').values(rows);
      await insert.onConflict((conflict) => conflict.doNothing()).execute();
    }
    if (complete.length === 0) return true;
    const libraries = await kysely
      .updateTable('document')
      .set({ embedding_model: model })
      .where('id', 'in', complete)
      .where('status', '=', 'indexed')
      .returning('library')
      .execute();
    const touched = [...new Set(libraries.map(({ library }) => library))];
    if (touched.length === 0) return true;
    const raised = { version: sql<number>`version + 1` };
    await kysely.updateTable('library').set(raised).where('id', 'in', touched).execute();
    return true;
  });
}

/** Removes the vectors of all models that were chosen earlier, in slices, so that other writes go on. */
export async function removeOtherModels(database: Database<Tables>, model: number): Promise<void> {
  const others = await database.kysely
    .selectFrom('embedding_model')
    .select('id')
    .where('choice', '<', (from) =>
      from.selectFrom('embedding_model').select('choice').where('id', '=', model),
    )
    .execute();
  for (const { id } of others) {
    for (let removed = 1; removed > 0; ) {
      const result = await database.write(({ kysely }) =>
        kysely
          .deleteFrom('chunk_embedding')
          .where('model', '=', id)
          .where('chunk', 'in', (from) =>
            from.selectFrom('chunk_embedding').select('chunk').where('model', '=', id).limit(sliceRows),
          )
          .executeTakeFirst(),
      );
      removed = Number(result.numDeletedRows);
    }
    await database.write(({ kysely }) => kysely.deleteFrom('embedding_model').where('id', '=', id).execute());
  }
}

/** Number of chunks that can be found, and of those with vectors of the model. */
export interface Progress {
  readonly chunks: number;
  readonly embedded: number;
}

export async function progressOf(store: Store, model: number): Promise<Progress> {
  const rows = await store.kysely
    .selectFrom('document')
    .select(({ fn }) => ['embedding_model', fn.sum<number>('chunk_count').as('chunks')])
    .where('status', '=', 'indexed')
    .groupBy('embedding_model')
    .execute();
  const chunks = rows.reduce((sum, row) => sum + Number(row.chunks), 0);
  return { chunks, embedded: Number(rows.find((row) => row.embedding_model === model)?.chunks ?? 0) };
}
