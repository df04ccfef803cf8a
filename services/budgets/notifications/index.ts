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
  type NotificationFilter,
  notify,
  readNotification,
  readNotifications,
  sendMessage,
  unreadNotifications,
} from './notifications.ts';
export { forgetShared } from './store.ts';
