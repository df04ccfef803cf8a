import { statement } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

export const insertFailure = statement<
  Tables,
  Record<'id' | 'kind' | 'addressKey' | 'network', string> & { nowMs: number }
>((db, p) =>
  db.insertInto('failed_attempt').values({
    id: p('id'),
    kind: p('kind'),
    address_key: p('addressKey'),
    network: p('network'),
    at_ms: p('nowMs'),
  }),
);

/** When the n-th last failure was; from any network where none is named. */
export const nthLastFailure = statement<
  Tables,
  Record<'kind' | 'addressKey', string> & { network: string | null; skipped: number },
  { at_ms: number }
>((db, p) =>
  db
    .selectFrom('failed_attempt')
    .select('at_ms')
    .where('address_key', '=', p('addressKey'))
    .where('kind', '=', p('kind'))
    .where((eb) => eb('network', '=', eb.fn.coalesce(p('network'), 'network')))
    .orderBy('at_ms', 'desc')
    .limit(1)
    .offset(p('skipped')),
);

export const forgetFailures = statement<Tables, { kind: string; addressKey: string }>((db, p) =>
  db.deleteFrom('failed_attempt').where('address_key', '=', p('addressKey')).where('kind', '=', p('kind')),
);

/** Removes a slice of those before. */
export const deleteOldFailures = statement<Tables, { beforeMs: number }>((db, p) =>
  db
    .deleteFrom('failed_attempt')
    .where('id', 'in', (eb) =>
      eb.selectFrom('failed_attempt').select('id').where('at_ms', '<', p('beforeMs')).limit(500),
    ),
);
