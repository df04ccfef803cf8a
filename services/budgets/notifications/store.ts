import { sql } from 'kysely';
import { statement } from '#kit/db/index.ts';
import type { NotificationRow, Tables } from '../tables.ts';

/** The next number of an account. It locks the account's row until the transaction ends, so numbers have no holes. */
export const nextSeq = statement<Tables, { owner: number }>()((db, p) =>
  db
    .updateTable('account')
    .set((eb) => ({ notification_seq: eb('notification_seq', '+', 1) }))
    .where('number', '=', p('owner'))
    .returning(['notification_seq as seq', 'id as userId']),
);

/** The number of the last notification of an account. */
export const lastSeq = statement<Tables, { owner: number }>()((db, p) =>
  db.selectFrom('account').select('notification_seq as seq').where('number', '=', p('owner')),
);

export const insertNotification = statement<Tables, Omit<NotificationRow, 'read_at_ms'>>()((db, p) =>
  db.insertInto('notification').values({
    owner: p('owner'),
    seq: p('seq'),
    id: p('id'),
    type: p('type'),
    title: p('title'),
    message: p('message'),
    data: p('data'),
    created_at_ms: p('created_at_ms'),
  }),
);

type PageParams = { owner: number; beforeSeq: number; limit: number };

export const notificationsPage = statement<Tables, PageParams>()((db, p) =>
  db
    .selectFrom('notification')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where('seq', '<', p('beforeSeq'))
    .orderBy('seq', 'desc')
    .limit(p('limit')),
);

// A literal, since with a parameter the databases would not use the partial index.
const isUnread = sql<boolean>`read_at_ms IS NULL`;

export const unreadPage = statement<Tables, PageParams>()((db, p) =>
  db
    .selectFrom('notification')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where(isUnread)
    .where('seq', '<', p('beforeSeq'))
    .orderBy('seq', 'desc')
    .limit(p('limit')),
);

/** Those after a number, oldest first, to be delivered in order. */
export const notificationsAfter = statement<
  Tables,
  { owner: number; afterSeq: number; sinceMs: number; limit: number }
>()((db, p) =>
  db
    .selectFrom('notification')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where('seq', '>', p('afterSeq'))
    .where('created_at_ms', '>=', p('sinceMs'))
    .orderBy('seq')
    .limit(p('limit')),
);

export const countNotifications = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('notification')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner')),
);

export const countUnread = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('notification')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner'))
    .where(isUnread),
);

export const notificationById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db.selectFrom('notification').selectAll().where('owner', '=', p('owner')).where('id', '=', p('id')),
);

/** The first time counts. */
export const markRead = statement<Tables, { owner: number; id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('notification')
    .set({ read_at_ms: p('nowMs') })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where(isUnread),
);

export const markReadUpTo = statement<Tables, { owner: number; seq: number; nowMs: number }>()((db, p) =>
  db
    .updateTable('notification')
    .set({ read_at_ms: p('nowMs') })
    .where('owner', '=', p('owner'))
    .where('seq', '<=', p('seq'))
    .where(isUnread),
);
