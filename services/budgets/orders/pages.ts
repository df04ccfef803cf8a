import type { FormProblem } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { getBudget, listBudgets } from '../budgets/index.ts';
import { getCustomer, listCustomers } from '../customers/index.ts';
import { createParser } from '../edges/schema-parser.ts';
import { usualCurrency } from '../expenses/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  callerWithIdempotencyKey,
  filled,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  submit,
  typedAmount,
  type Visitor,
  versionsOf,
} from '../site/page-context.ts';
import { OrderInput, OrderPatch } from './order.ts';
import { createOrder, deleteOrder, getOrder, listOrders, updateOrder } from './orders.ts';
import { deletionPage, formPage, listPage, orderPage } from './pages-views.ts';

const parseInput = createParser(OrderInput);
const parsePatch = createParser(OrderPatch);
const pageSize = 100;
const choicesMax = 500;

export function addOrderPages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.orders, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const cursor = parameter(visit, 'cursor') || undefined;
    const page = await listOrders(context, caller, { limit: pageSize, cursor });
    const { items: customers } = await listCustomers(context, caller, { limit: choicesMax });
    return listPage(visitor, { page, customers, hasCursor: cursor !== undefined });
  });
  routes.get(pageRoutes.newOrder, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.orders, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: async () => {
        const typed = parseInput(inputOf(visit));
        const given =
          typed.currency || typed.budgetId
            ? typed
            : { ...typed, currency: await usualCurrency(context, visitor.caller) };
        return createOrder(context, callerWithIdempotencyKey(visitor), {
          ...given,
          items: await typedItems(visitor, parts, given),
        });
      },
      done: ({ id }) => goTo(visit, id, 'The order was created.'),
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
  addOne(routes, parts);
  addEditing(routes, parts);
}

function addOne(routes: PageRoutes<PageSession>, { context, visitors: access }: PageParts): void {
  const show = async (visitor: Visitor, problem?: FormProblem) => {
    const { visit, caller } = visitor;
    const order = await getOrder(context, caller, idOf(visit));
    return orderPage(visitor, {
      order,
      customer: await getCustomer(context, caller, order.customerId),
      problem,
    });
  };
  routes.get(pageRoutes.order, { access }, (visitor) => show(visitor));
  routes.post(pageRoutes.stepOrder, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: () =>
        updateOrder(
          context,
          callerWithIdempotencyKey(visitor),
          idOf(visit),
          parsePatch(filled(visit, ['status'])),
        ),
      done: ({ id, status }) => goTo(visit, id, `The order is ${status} now.`),
      again: (problem) => show(visitor, problem),
    });
  });
  routes.get(pageRoutes.deleteOrder, { access }, async (visitor) =>
    deletionPage(visitor, await getOrder(context, visitor.caller, idOf(visitor.visit))),
  );
  routes.post(pageRoutes.deleteOrder, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => deleteOrder(context, caller, idOf(visit)),
      done: () => visit.redirect(pageRoutes.orders, { tone: 'good', text: 'The order was deleted.' }),
      again: (problem) => show(visitor, problem),
    });
  });
}

function addEditing(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.editOrder, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.editOrder, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: async () => {
        const change = parsePatch({ budgetId: null, ...inputOf(visit) });
        const items = await typedItems(visitor, parts, change);
        return updateOrder(context, caller, idOf(visit), { ...change, items, versions: versionsOf(visit) });
      },
      done: ({ id }) => goTo(visit, id, 'The order was saved.'),
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
}

async function showForm(visitor: Visitor, { context }: PageParts, problem?: FormProblem): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  return formPage(visitor, {
    order: id === undefined ? undefined : await getOrder(context, caller, id),
    customers: (await listCustomers(context, caller, { limit: choicesMax })).items,
    budgets: (await listBudgets(context, caller, { limit: choicesMax, isOwn: true })).items,
    customerId: parameter(visit, 'customer'),
    typed: typedOf(visit),
    problem,
  });
}

function goTo(visit: PageVisit, id: string, text: string) {
  return visit.redirect(pathOf(pageRoutes.order, id), { tone: 'good', text });
}

/** Reads the form as a body of the API. Empty rows are left out. */
function inputOf(visit: PageVisit): Record<string, unknown> {
  const { items, ...given } = typedOf(visit);
  const rows = items.filter((item) => Object.values(item).some((text) => text.trim() !== ''));
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, text]) => text !== '')),
    items: rows.map(({ description, quantity, unitAmount }) => ({
      description: description.trim(),
      quantity: /^\s*\d{1,9}\s*$/.test(quantity) ? Number(quantity) : quantity.trim() === '' ? 1 : quantity,
      unitAmount: unitAmount.trim(),
    })),
  };
}

/** The items with their amounts as typed. */
async function typedItems(
  { caller }: Visitor,
  { context }: PageParts,
  { items = [], currency, budgetId }: OrderPatch,
): Promise<NonNullable<OrderPatch['items']>> {
  const known = currency ?? (budgetId ? (await getBudget(context, caller, budgetId)).currency : 'USD');
  return items.map((item, index) => {
    const field = `items[${index}].unitAmount`;
    return { ...item, unitAmount: typedAmount(item.unitAmount, { field, currency: known }) };
  });
}

function typedOf(visit: PageVisit) {
  const rows = visit.values('description');
  const column = (name: string) => visit.values(name);
  return {
    customerId: visit.field('customerId'),
    budgetId: visit.field('budgetId'),
    currency: visit.field('currency'),
    items: rows.map((description, index) => ({
      description,
      quantity: column('quantity')[index] ?? '',
      unitAmount: column('unitAmount')[index] ?? '',
    })),
  };
}
