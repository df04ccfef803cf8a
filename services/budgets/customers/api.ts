import { addResource } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { owned } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import { Customer, CustomerInput, CustomerPatch } from './customer.ts';
import { createCustomer, deleteCustomer, getCustomer, listCustomers, updateCustomer } from './customers.ts';

export function addCustomerApi(app: HttpApp, context: Context, access: AccessRule): void {
  addResource(app, {
    ...owned(access),
    name: 'Customer',
    tag: 'Customers',
    paths: { list: routes.customers, item: routes.customer },
    schema: Customer,
    list: {
      summary: 'Your customers, newest first',
      description: 'Lists the people you sell to.',
      run: (caller, query) => listCustomers(context, caller, query),
    },
    get: {
      summary: 'A customer',
      description: 'Reads one of your customers.',
      run: (caller, id) => getCustomer(context, caller, id),
    },
    create: {
      summary: 'Add a customer',
      description: 'Adds a customer, to whom orders can refer.',
      body: CustomerInput,
      run: (caller, body) => createCustomer(context, caller, body),
    },
    change: {
      summary: 'Change a customer',
      description:
        'Changes the fields that are given; `null` clears an e-mail address or a telephone number.',
      body: CustomerPatch,
      run: (caller, id, change) => updateCustomer(context, caller, id, change),
    },
    remove: {
      summary: 'Delete a customer without orders',
      description: 'Deletes a customer. One with orders gives 409.',
      errors: ['conflict'],
      run: (caller, id, { versions }) => deleteCustomer(context, caller, id, versions),
    },
  });
}
