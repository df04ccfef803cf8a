export { MailQueueAdmin, type QueuedMail } from './admin.ts';
export { checkWorkers } from './heartbeat.ts';
export { shownMailFolder } from './mailer.ts';
export { MailNotifier } from './notifier.ts';
export { openMail } from './open.ts';
export type { MailQueue } from './queue.ts';
export type { MailTables } from './store.ts';
