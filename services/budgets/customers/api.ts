import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { created, IfMatch, isKnown, listed, NotModified, tagged, versionsIn } from '../api-responses.ts';
import type { Core } from '../commands.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { routes } from '../routes.ts';
import { Deleted, IdParams, listQuery } from '../schemas.ts';
import { Customer, CustomerInput, CustomerPatch } from './customer.ts';
import { createCustomer, deleteCustomer, getCustomer, listCustomers, updateCustomer } from './customers.ts';

const tags = ['Customers'];

export function addCustomerApi(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.customers,
    {
      access,
      schema: {
        operationId: 'listCustomers',
        summary: 'Your customers, newest first',
        tags,
        querystring: Type.Object(listQuery),
        response: { 200: Type.Array(Customer) },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) =>
      listed(request, reply, await listCustomers(core, callerOf(request), request.query)),
  );
  app.post(
    routes.customers,
    {
      access,
      schema: {
        operationId: 'createCustomer',
        summary: 'Add a customer',
        tags,
        headers: IdempotencyHeader,
        body: CustomerInput,
        response: { 201: Customer },
      },
      config: { errors: ['conflict', 'rate_limited'] },
    },
    async (request, reply) => {
      const caller = commanderOf(request, reply);
      return created(reply, routes.customer, await createCustomer(core, caller, request.body));
    },
  );
  addOne(app, core, access);
}

function addOne(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.customer,
    {
      access,
      schema: {
        operationId: 'getCustomer',
        summary: 'A customer',
        tags,
        params: IdParams,
        response: { 200: Customer, 304: NotModified },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const customer = tagged(reply, await getCustomer(core, callerOf(request), request.params.id));
      return isKnown(request, customer) ? reply.code(304).send(null) : customer;
    },
  );
  app.put(
    routes.customer,
    {
      access,
      schema: {
        operationId: 'updateCustomer',
        summary: 'Change a customer',
        tags,
        params: IdParams,
        headers: IfMatch,
        body: CustomerPatch,
        response: { 200: Customer },
      },
      config: { errors: ['not_found', 'precondition_failed', 'rate_limited'] },
    },
    async (request, reply) => {
      const change = { ...request.body, versions: versionsIn(request.headers['if-match']) };
      return tagged(reply, await updateCustomer(core, callerOf(request), request.params.id, change));
    },
  );
  app.delete(
    routes.customer,
    {
      access,
      schema: {
        operationId: 'deleteCustomer',
        summary: 'Delete a customer without orders',
        tags,
        params: IdParams,
        headers: IfMatch,
        response: { 200: Deleted },
      },
      config: { errors: ['not_found', 'conflict', 'precondition_failed', 'rate_limited'] },
    },
    (request) => {
      const versions = versionsIn(request.headers['if-match']);
      return deleteCustomer(core, callerOf(request), request.params.id, versions);
    },
  );
}
