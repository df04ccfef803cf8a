import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { created, IfMatch, isKnown, listed, NotModified, tagged, versionsIn } from '../api-responses.ts';
import type { Core } from '../commands.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { routes } from '../routes.ts';
import { Deleted, IdParams, listQuery } from '../schemas.ts';
import { Order, OrderInput, OrderPatch } from './order.ts';
import { createOrder, deleteOrder, getOrder, listOrders, updateOrder } from './orders.ts';

const tags = ['Orders'];

const StepHeaders = Type.Object({ ...IfMatch.properties, ...IdempotencyHeader.properties });

export function addOrderApi(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.orders,
    {
      access,
      schema: {
        operationId: 'listOrders',
        summary: 'Your orders, newest first',
        tags,
        querystring: Type.Object(listQuery),
        response: { 200: Type.Array(Order) },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) =>
      listed(request, reply, await listOrders(core, callerOf(request), request.query)),
  );
  app.post(
    routes.orders,
    {
      access,
      schema: {
        operationId: 'createOrder',
        summary: 'Create an order',
        tags,
        headers: IdempotencyHeader,
        body: OrderInput,
        response: { 201: Order },
      },
      config: { errors: ['conflict', 'rate_limited'] },
    },
    async (request, reply) => {
      const caller = commanderOf(request, reply);
      return created(reply, routes.order, await createOrder(core, caller, request.body));
    },
  );
  addOne(app, core, access);
}

function addOne(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.order,
    {
      access,
      schema: {
        operationId: 'getOrder',
        summary: 'An order',
        tags,
        params: IdParams,
        response: { 200: Order, 304: NotModified },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const order = tagged(reply, await getOrder(core, callerOf(request), request.params.id));
      return isKnown(request, order) ? reply.code(304).send(null) : order;
    },
  );
  app.put(
    routes.order,
    {
      access,
      schema: {
        operationId: 'updateOrder',
        summary: 'Take a step, or change a pending order',
        tags,
        params: IdParams,
        headers: StepHeaders,
        body: OrderPatch,
        response: { 200: Order },
      },
      config: { errors: ['not_found', 'conflict', 'precondition_failed', 'rate_limited'] },
    },
    async (request, reply) => {
      const change = { ...request.body, versions: versionsIn(request.headers['if-match']) };
      const caller = commanderOf(request, reply);
      return tagged(reply, await updateOrder(core, caller, request.params.id, change));
    },
  );
  app.delete(
    routes.order,
    {
      access,
      schema: {
        operationId: 'deleteOrder',
        summary: 'Delete a pending order',
        tags,
        params: IdParams,
        headers: IfMatch,
        response: { 200: Deleted },
      },
      config: { errors: ['not_found', 'conflict', 'precondition_failed', 'rate_limited'] },
    },
    (request) => {
      const versions = versionsIn(request.headers['if-match']);
      return deleteOrder(core, callerOf(request), request.params.id, versions);
    },
  );
}
