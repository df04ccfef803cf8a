import { labelsOf } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';
import { confirm, count, empty, field, html, icon, linkButton, table } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { Page } from '@octavo/web/rest';
import { createParser } from '../edges/schema-parser.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { formFields } from '../site/form-fields.ts';
import {
  callerWithIdempotencyKey,
  filled,
  idOf,
  onceField,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  submit,
  type Visitor,
  versionsOf,
} from '../site/page-context.ts';
import { cursorPager, hrefWith, problems } from '../site/views.ts';
import { type Customer, CustomerInput, CustomerPatch, customerFields } from './customer.ts';
import { createCustomer, deleteCustomer, getCustomer, listCustomers, updateCustomer } from './customers.ts';

const parseInput = createParser(CustomerInput);
const parsePatch = createParser(CustomerPatch);
const pageSize = 100;
const labels = labelsOf(customerFields);
const names = Object.keys(customerFields);

export function addCustomerPages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.customers, { access }, async (visitor) => {
    const cursor = parameter(visitor.visit, 'cursor') || undefined;
    const page = await listCustomers(context, visitor.caller, { limit: pageSize, cursor });
    return listPage(visitor, page, cursor !== undefined);
  });
  routes.get(pageRoutes.newCustomer, { access }, (visitor) => formPage(visitor, {}));
  routes.post(pageRoutes.customers, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: () =>
        createCustomer(context, callerWithIdempotencyKey(visitor), parseInput(filled(visit, names))),
      done: ({ name }) => goToList(visit, `${name} was added.`),
      again: (problem) => formPage(visitor, { problem }),
    });
  });
  addEditing(routes, parts);
}

function addEditing(routes: PageRoutes<PageSession>, { context, visitors: access }: PageParts): void {
  const customerOf = ({ visit, caller }: Visitor) => getCustomer(context, caller, idOf(visit));
  routes.get(pageRoutes.editCustomer, { access }, async (visitor) =>
    formPage(visitor, { customer: await customerOf(visitor) }),
  );
  routes.post(pageRoutes.editCustomer, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => {
        const change = parsePatch({ email: null, phone: null, ...filled(visit, names) });
        return updateCustomer(context, caller, idOf(visit), { ...change, versions: versionsOf(visit) });
      },
      done: ({ name }) => goToList(visit, `${name} was saved.`),
      again: async (problem) => formPage(visitor, { customer: await customerOf(visitor), problem }),
    });
  });
  routes.get(pageRoutes.deleteCustomer, { access }, async (visitor) =>
    deletionPage(visitor, await customerOf(visitor)),
  );
  routes.post(pageRoutes.deleteCustomer, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => deleteCustomer(context, caller, idOf(visit)),
      done: () => goToList(visit, 'The customer was deleted.'),
      again: async (problem) => deletionPage(visitor, await customerOf(visitor), problem),
    });
  });
}

function goToList(visit: PageVisit, text: string) {
  return visit.redirect(pageRoutes.customers, { tone: 'good', text });
}

function listPage(visitor: Visitor, page: Page<Customer>, hasCursor: boolean): Promise<string> {
  if (page.total === 0) {
    const main = empty({
      icon: 'users',
      title: 'No customers yet',
      text: 'Customers are the people you sell to. Each order belongs to a customer.',
      actions: linkButton(pageRoutes.newCustomer, 'Add the first customer', 'primary'),
    });
    return visitor.render({ title: 'Customers', main });
  }
  const rows = table<Customer>({
    caption: 'Customers, newest first',
    rows: page.items,
    columns: [
      {
        header: labels.name,
        kind: 'main',
        cell: ({ id, name }) => html`<a href="${pathOf(pageRoutes.editCustomer, id)}">${name}</a>`,
      },
      {
        header: labels.email,
        kind: 'fit',
        cell: ({ email }) => email && html`<a href="${`mailto:${email}`}">${email}</a>`,
      },
      {
        header: labels.phone,
        kind: 'fit',
        cell: ({ phone }) => phone && html`<a href="${`tel:${phone.replace(/[^\d+]/g, '')}`}">${phone}</a>`,
      },
      {
        header: 'Actions',
        kind: 'row-actions',
        cell: ({ id, name }) =>
          html`<a href="${hrefWith(pageRoutes.newOrder, { customer: id })}">New order<span class="hidden"> of ${name}</span></a>
<a href="${pathOf(pageRoutes.deleteCustomer, id)}" data-dialog title="Delete">${icon('close')}<span class="hidden">Delete ${name}</span></a>`,
      },
    ],
  });
  return visitor.render({
    title: 'Customers',
    lead: count(page.total, 'customer'),
    actions: linkButton(pageRoutes.newCustomer, 'New customer', 'primary'),
    modules: ['live.js'],
    main: html`${rows}${cursorPager(pageRoutes.customers, {}, { next: page.next, hasCursor })}`,
  });
}

interface FormView {
  readonly customer?: Customer;
  readonly problem?: FormProblem;
}

function formPage(visitor: Visitor, { customer, problem }: FormView): Promise<string> {
  const { visit, csrfField } = visitor;
  const { name, email, phone } = customer ?? {};
  const common = formFields(customerFields, {
    values: visit.fields(),
    saved: { name, email, phone },
    problem,
  });
  return visitor.render({
    title: customer ? `Edit ${customer.name}` : 'New customer',
    parent: { href: pageRoutes.customers, label: 'Customers' },
    main: html`${problems(problem, labels)}<form class="card form" method="post" action="${customer ? pathOf(pageRoutes.editCustomer, customer.id) : pageRoutes.customers}" novalidate>
${csrfField}${onceField()}${customer && html`<input type="hidden" name="version" value="${customer.version}">`}
${field(common('name', { required: true, autocomplete: 'off' }))}
${field({ ...common('email', { autocomplete: 'off' }), type: 'email' })}
${field(common('phone', { autocomplete: 'off', inputmode: 'tel' }))}
<div class="actions"><button>${customer ? 'Save' : 'Add customer'}</button>${linkButton(pageRoutes.customers, 'Cancel', 'quiet')}</div></form>`,
  });
}

function deletionPage(visitor: Visitor, { id, name }: Customer, problem?: FormProblem): Promise<string> {
  return visitor.render({
    title: 'Delete customer',
    parent: { href: pageRoutes.customers, label: 'Customers' },
    main: confirm({
      title: `Delete “${name}”?`,
      text: 'A customer with orders cannot be deleted.',
      action: pathOf(pageRoutes.deleteCustomer, id),
      csrfField: visitor.csrfField,
      problem: problem?.problem,
      deed: 'Delete customer',
      cancelHref: pageRoutes.customers,
    }),
  });
}
