import type { Insertable } from 'kysely';
import type { Store, Tables } from './store.ts';

export function insertEvent({ kysely }: Store, row: Insertable<Tables['audit_event']>) {
  return kysely.insertInto('audit_event').values(row).execute();
}

export function deleteOldEvents({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('audit_event')
    .where('id', 'in', (eb) =>
      eb.selectFrom('audit_event').select('id').where('at_ms', '<', beforeMs).limit(500),
    )
    .execute();
}
