export { followFrom, keptMs, stoppable } from './follow.ts';
export { type LiveEvent, NotificationHub as Hub } from './notification-hub.ts';
