import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { created, listed } from '../api-responses.ts';
import type { Core } from '../commands.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { routes } from '../routes.ts';
import { IdParams, listQuery } from '../schemas.ts';
import { MessageInput, Notification } from './notification.ts';
import {
  getNotification,
  listNotifications,
  readNotification,
  readNotifications,
  sendMessage,
} from './notifications.ts';

const tags = ['Notifications'];

export function addNotificationApi(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.notifications,
    {
      access,
      schema: {
        operationId: 'listNotifications',
        summary: 'Your notifications, newest first',
        tags,
        querystring: Type.Object({ unread: Type.Boolean({ default: false }), ...listQuery }),
        response: { 200: Type.Array(Notification) },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) =>
      listed(request, reply, await listNotifications(core, callerOf(request), request.query)),
  );
  app.post(
    routes.notifications,
    {
      access,
      schema: {
        operationId: 'sendMessage',
        summary: 'Send yourself a message',
        tags,
        headers: IdempotencyHeader,
        body: MessageInput,
        response: { 201: Notification },
      },
      config: { errors: ['conflict', 'rate_limited'] },
    },
    async (request, reply) =>
      created(reply, routes.notification, await sendMessage(core, commanderOf(request, reply), request.body)),
  );
  app.get(
    routes.notification,
    {
      access,
      schema: {
        operationId: 'getNotification',
        summary: 'A notification',
        tags,
        params: IdParams,
        response: { 200: Notification },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => getNotification(core, callerOf(request), request.params.id),
  );
  app.put(
    routes.notificationRead,
    {
      access,
      schema: {
        operationId: 'readNotification',
        summary: 'Mark a notification as read',
        tags,
        params: IdParams,
        response: { 200: Notification },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => readNotification(core, callerOf(request), request.params.id),
  );
  app.put(
    routes.notificationsRead,
    {
      access,
      schema: {
        operationId: 'readAllNotifications',
        summary: 'Mark all notifications as read',
        tags,
        response: {
          200: Type.Object({ message: Type.String(), read: Type.Integer() }, { title: 'NotificationsRead' }),
        },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request) => {
      const { read } = await readNotifications(core, callerOf(request));
      return { message: 'All notifications are read', read };
    },
  );
}
