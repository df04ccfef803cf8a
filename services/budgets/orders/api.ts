import { addResource } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { owned } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import { Order, OrderInput, OrderPatch } from './order.ts';
import { createOrder, deleteOrder, getOrder, listOrders, updateOrder } from './orders.ts';

export function addOrderApi(app: HttpApp, context: Context, access: AccessRule): void {
  addResource(app, {
    ...owned(access),
    name: 'Order',
    tag: 'Orders',
    paths: { list: routes.orders, item: routes.order },
    schema: Order,
    list: {
      summary: 'Your orders, newest first',
      description: 'Lists your orders with their items.',
      run: (caller, query) => listOrders(context, caller, query),
    },
    get: {
      summary: 'An order',
      description: 'Reads one of your orders with its items.',
      run: (caller, id) => getOrder(context, caller, id),
    },
    create: {
      summary: 'Create an order',
      description: 'Creates a pending order of one of your customers.',
      body: OrderInput,
      errors: ['not_found'],
      run: (caller, body) => createOrder(context, caller, body),
    },
    change: {
      summary: 'Change the status of an order, or a pending order',
      description: 'Moves an order to its next status, or changes its items while it is pending.',
      body: OrderPatch,
      isIdempotent: true,
      errors: ['conflict'],
      run: (caller, id, change) => updateOrder(context, caller, id, change),
    },
    remove: {
      summary: 'Delete a pending order',
      description: 'Deletes an order that is still pending; any other gives 409.',
      errors: ['conflict'],
      run: (caller, id, { versions }) => deleteOrder(context, caller, id, versions),
    },
  });
}
