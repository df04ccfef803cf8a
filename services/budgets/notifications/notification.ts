import { isoTime, type Static, Type } from '@octavo/core';
import { parseRaw } from '@octavo/core/text';
import { text } from '../edges/schemas.ts';
import type { NotificationRow } from '../store/tables.ts';

interface NotificationKind {
  /** Its words in the choice of kinds. */
  readonly words: string;
  /** Shown by pages until the user chooses: not every change that people make themselves. */
  readonly isShown: boolean;
  /** Marks it in the list. */
  readonly mark?: string;
}

/** The events that a user receives. */
export const notificationKinds = {
  'expense.created': { words: 'An expense is added', isShown: false },
  'expense.updated': { words: 'An expense is changed', isShown: false },
  'expense.deleted': { words: 'An expense is deleted', isShown: false },
  'budget.created': { words: 'A budget is created', isShown: false },
  'budget.updated': { words: 'A budget is changed', isShown: false },
  'budget.deleted': { words: 'A budget is deleted', isShown: false },
  'budget.threshold': { words: 'A budget reaches a threshold', isShown: true, mark: 'threshold' },
  'task.finished': { words: 'A task finishes, such as an import', isShown: true },
  message: { words: 'A message comes, such as that a member joined or left a budget', isShown: true },
} satisfies Readonly<Record<string, NotificationKind>>;
export type NotificationType = keyof typeof notificationKinds;
export const notificationTypes = Object.keys(notificationKinds) as NotificationType[];

/** The kind of a notification. */
export function kindOf(type: NotificationType): NotificationKind {
  return notificationKinds[type];
}

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

export function toNotification(row: Omit<NotificationRow, 'owner' | 'shared_budget'>): Notification {
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
