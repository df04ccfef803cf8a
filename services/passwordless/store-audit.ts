import { statement } from '#kit/db/index.ts';
import type { Tables } from './store.ts';

export const insertEvent = statement<
  Tables,
  {
    id: string;
    nowMs: number;
    event: string;
    userId: string | null;
    sessionId: string | null;
    address: string | null;
  }
>()((db, p) =>
  db.insertInto('audit_event').values({
    id: p('id'),
    at_ms: p('nowMs'),
    event: p('event'),
    user_id: p('userId'),
    session_id: p('sessionId'),
    address: p('address'),
  }),
);

export const deleteOldEvents = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('audit_event')
    .where('id', 'in', (eb) =>
      eb.selectFrom('audit_event').select('id').where('at_ms', '<', p('beforeMs')).limit(500),
    ),
);
