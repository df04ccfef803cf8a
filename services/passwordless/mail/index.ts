export { checkWorkers } from './delivery/heartbeat.ts';
export { checkMailer, shownMailFolder } from './delivery/mailer.ts';
export { MailNotifier } from './delivery/notifier.ts';
export { checkMails, openMail } from './open.ts';
export type { MailQueue } from './queue.ts';
export { MailQueueAdmin, type QueuedMail } from './queue-control.ts';
export type { MailTables } from './store.ts';
