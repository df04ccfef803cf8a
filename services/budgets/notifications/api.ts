import { Type } from '@octavo/core';
import { addResource, IdParams } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { callerOf, owned } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import { MessageInput, Notification } from './notification.ts';
import {
  getNotification,
  listNotifications,
  readNotification,
  readNotifications,
  sendMessage,
} from './notifications.ts';

const tag = 'Notifications';

export function addNotificationApi(app: HttpApp, context: Context, access: AccessRule): void {
  addResource(app, {
    ...owned(access),
    name: 'Notification',
    tag,
    paths: { list: routes.notifications, item: routes.notification },
    schema: Notification,
    list: {
      summary: 'Your notifications, newest first',
      description: 'Lists your notifications; with `unread`, only those that are not marked as read.',
      filters: { unread: Type.Boolean({ default: false }) },
      run: (caller, query) => listNotifications(context, caller, query),
    },
    get: {
      summary: 'A notification',
      description: 'Reads one of your notifications; it stays unread.',
      run: (caller, id) => getNotification(context, caller, id),
    },
    create: {
      operationId: 'sendMessage',
      summary: 'Send yourself a message',
      description: 'Adds a notification, which also reaches your open connections.',
      body: MessageInput,
      run: (caller, body) => sendMessage(context, caller, body),
    },
  });
  addReading(app, context, access);
}

function addReading(app: HttpApp, context: Context, access: AccessRule): void {
  app.put(
    routes.notificationRead,
    {
      access,
      schema: {
        operationId: 'readNotification',
        summary: 'Mark a notification as read',
        description: 'Marks one of your notifications. Doing it again changes nothing.',
        tags: [tag],
        params: IdParams,
        response: { 200: Notification },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => readNotification(context, callerOf(request), request.params.id),
  );
  app.put(
    routes.notificationsRead,
    {
      access,
      schema: {
        operationId: 'readAllNotifications',
        summary: 'Mark all notifications as read',
        description: 'Marks all your notifications, and returns how many were unread.',
        tags: [tag],
        response: {
          200: Type.Object({ message: Type.String(), read: Type.Integer() }, { title: 'NotificationsRead' }),
        },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request) => {
      const { read } = await readNotifications(context, callerOf(request));
      return { message: 'All notifications are read', read };
    },
  );
}
