export {
  MessageInput,
  Notification,
  type NotificationType,
  notificationTypes,
} from './notification.ts';
export {
  expandEvents,
  followNotifications,
  lastNotification,
  listNotifications,
  type News,
  type NotificationFilter,
  notify,
  notifyMembers,
  readNotification,
  readNotifications,
  sendMessage,
  unreadNotifications,
} from './notifications.ts';
export { forgetShared } from './store.ts';
export { thresholdText } from './threshold-text.ts';
