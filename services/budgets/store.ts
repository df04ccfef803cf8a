import { statement } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

export const findIdempotencyKey = statement<Tables, { owner: number; key: string; sinceMs: number }>()(
  (db, p) =>
    db
      .selectFrom('idempotency_key')
      .select(['digest', 'result'])
      .where('owner', '=', p('owner'))
      .where('key', '=', p('key'))
      .where('created_at_ms', '>', p('sinceMs')),
);

/** Replaces one that has expired. */
export const putIdempotencyKey = statement<
  Tables,
  { owner: number; key: string; digest: string; result: string; nowMs: number }
>()((db, p) =>
  db
    .insertInto('idempotency_key')
    .values({
      owner: p('owner'),
      key: p('key'),
      digest: p('digest'),
      result: p('result'),
      created_at_ms: p('nowMs'),
    })
    .onConflict((conflict) =>
      conflict.columns(['owner', 'key']).doUpdateSet({
        digest: p('digest'),
        result: p('result'),
        created_at_ms: p('nowMs'),
      }),
    ),
);

/** Deletes at most 1,000 of the keys that have expired. */
export const sweepIdempotencyKeys = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('idempotency_key')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('owner', 'key'),
        'in',
        selectFrom('idempotency_key')
          .select(['owner', 'key'])
          .where('created_at_ms', '<', p('beforeMs'))
          .limit(1_000)
          .$asTuple('owner', 'key'),
      ),
    ),
);
