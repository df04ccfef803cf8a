export { followFrom, keptMs, stoppable } from './follow.ts';
export { type LiveEvent, NotificationHub } from './notification-hub.ts';
