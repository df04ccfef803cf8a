import { isoTime, type Static, Type } from '@octavo/core';
import { parseRaw } from '@octavo/core/text';
import { text } from '../edges/schemas.ts';
import type { NotificationRow } from '../store/tables.ts';

/** The events that a user receives. */
export const notificationTypes = [
  'expense.created',
  'expense.updated',
  'expense.deleted',
  'budget.created',
  'budget.updated',
  'budget.deleted',
  'budget.threshold',
  'task.finished',
  'message',
] as const;
export type NotificationType = (typeof notificationTypes)[number];

export const Notification = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    seq: Type.Integer({ description: 'Number of the notification, from 1 without gaps' }),
    type: Type.Enum(notificationTypes),
    title: Type.String(),
    message: Type.String(),
    data: Type.Unknown({ description: 'The resource, as the API shows it', examples: [{}] }),
    readAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Notification' },
);
export type Notification = Static<typeof Notification>;

export const MessageInput = Type.Object(
  {
    title: Type.Optional(text(200)),
    message: text(2_000, { examples: ['Buy milk'] }),
  },
  { title: 'MessageInput' },
);
export type MessageInput = Static<typeof MessageInput>;

export function toNotification(row: Omit<NotificationRow, 'owner'>): Notification {
  return {
    id: row.id,
    seq: row.seq,
    type: row.type as NotificationType,
    title: row.title,
    message: row.message,
    data: parseRaw(row.data),
    readAt: row.read_at_ms === null ? null : isoTime(row.read_at_ms),
    createdAt: isoTime(row.created_at_ms),
  };
}
