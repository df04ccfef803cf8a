import { labelsOf } from '@octavo/core';
import { currencyCodes } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import {
  attributes,
  badge,
  type Content,
  card,
  confirm,
  count,
  empty,
  facts,
  field,
  formatNumber,
  type Html,
  html,
  linkButton,
  type Tone,
  table,
  time,
} from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import type { Budget } from '../budgets/index.ts';
import type { Customer } from '../customers/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { amountAttributes, cursorPager, money, problems, typedText } from '../site/views.ts';
import { type Order, type OrderStatus, orderFields, steps } from './order.ts';

const tones: Readonly<Record<OrderStatus, Tone | 'plain'>> = {
  pending: 'warn',
  shipped: 'info',
  completed: 'good',
  delivered: 'good',
  canceled: 'plain',
};

/** Labels of the buttons for each step. */
const deeds: Readonly<Record<OrderStatus, string>> = {
  pending: 'Reopen',
  completed: 'Complete',
  shipped: 'Ship',
  delivered: 'Mark as delivered',
  canceled: 'Cancel order',
};

interface ListView {
  readonly page: Page<Order>;
  readonly customers: readonly Customer[];
  readonly hasCursor: boolean;
}

export function listPage(visitor: Visitor, { page, customers, hasCursor }: ListView): Promise<string> {
  const names = new Map(customers.map(({ id, name }) => [id, name]));
  if (page.total === 0) return visitor.render({ title: 'Orders', main: nothing(customers.length > 0) });
  const rows = table<Order>({
    caption: 'Orders, newest first',
    rows: page.items,
    columns: [
      {
        header: 'Order',
        kind: 'main',
        cell: ({ id, items, customerId }) =>
          html`<a href="${pathOf(pageRoutes.order, id)}">${titleOf(items)}</a><div>${names.get(customerId) ?? 'Customer'}</div>`,
      },
      { header: 'Status', kind: 'plain', cell: ({ status }) => badge(tones[status], status) },
      { header: 'Created', kind: 'plain', cell: ({ createdAt }) => time(createdAt) },
      { header: 'Amount', kind: 'amount', cell: ({ amountMinor, currency }) => money(amountMinor, currency) },
    ],
  });
  return visitor.render({
    title: 'Orders',
    lead: count(page.total, 'order'),
    actions: linkButton(pageRoutes.newOrder, 'New order', 'primary'),
    modules: ['live.js'],
    main: html`${rows}${cursorPager(pageRoutes.orders, {}, { next: page.next, hasCursor })}`,
  });
}

function nothing(hasCustomers: boolean): Html {
  return empty({
    icon: 'box',
    title: 'No orders yet',
    text: 'An order is a sale to a customer. When it is completed or delivered, the amount is recorded in the ledger.',
    actions: hasCustomers
      ? linkButton(pageRoutes.newOrder, 'Create the first order', 'primary')
      : linkButton(pageRoutes.newCustomer, 'Add a customer first', 'primary'),
  });
}

function titleOf(items: Order['items']): string {
  const [first, ...others] = items;
  return `${first?.description ?? 'Order'}${others.length > 0 ? ` and ${count(others.length, 'other item')}` : ''}`;
}

interface OrderView {
  readonly order: Order;
  readonly customer: Customer;
  readonly problem: FormProblem | undefined;
}

export function orderPage(visitor: Visitor, { order, customer, problem }: OrderView): Promise<string> {
  const { id, items, status, amountMinor, currency, createdAt, transactionId } = order;
  const isPending = status === 'pending';
  const message = problem && (problem.problem ?? `This order is ${status}.`);
  return visitor.render({
    title: titleOf(items),
    parent: { href: pageRoutes.orders, label: 'Orders' },
    actions:
      isPending &&
      html`${linkButton(pathOf(pageRoutes.editOrder, id), 'Edit')}<a class="button secondary" href="${pathOf(pageRoutes.deleteOrder, id)}" data-dialog>Delete</a>`,
    main: html`${problem && problems({ ...problem, problem: message, errors: {} }, {})}<div class="beside"><div class="stack">${itemTable(order)}${stepForms(visitor, order)}</div>
<aside>${card(
      'About this order',
      facts([
        ['Status', badge(tones[status], status)],
        [
          labels.customerId,
          html`<a href="${pathOf(pageRoutes.editCustomer, customer.id)}">${customer.name}</a>`,
        ],
        ['Amount', money(amountMinor, currency)],
        ['Created', time(createdAt)],
        ...(transactionId === null
          ? []
          : [['Ledger', html`<a href="${pageRoutes.transactions}">in the ledger</a>`] as const]),
      ]),
    )}</aside></div>`,
  });
}

function itemTable({ items, currency, amountMinor }: Order): Html {
  return html`${table<Order['items'][number]>({
    caption: 'Items',
    rows: items,
    columns: [
      { header: 'Item', kind: 'main', cell: ({ description }) => description },
      { header: 'Quantity', kind: 'number', cell: ({ quantity }) => formatNumber(quantity) },
      { header: 'Price', kind: 'number', cell: ({ unitAmountMinor }) => money(unitAmountMinor, currency) },
      {
        header: 'Sum',
        kind: 'amount',
        cell: ({ quantity, unitAmountMinor }) => money(quantity * unitAmountMinor, currency),
      },
    ],
  })}<p class="number"><b>${money(amountMinor, currency)}</b></p>`;
}

function stepForms({ csrfField }: Visitor, { id, status }: Order): Content {
  const next = steps[status];
  if (next.length === 0) return undefined;
  return html`<div class="actions">${next.map(
    (
      step,
      index,
    ) => html`<form method="post" action="${pathOf(pageRoutes.stepOrder, id)}">${csrfField}${onceField()}<input type="hidden" name="status" value="${step}">
<button class="${index === 0 && step !== 'canceled' ? 'primary' : 'secondary'}">${deeds[step]}</button></form>`,
  )}</div>`;
}

interface FormView {
  /** The order to edit; absent for a new one. */
  readonly order: Order | undefined;
  readonly customers: readonly Customer[];
  readonly budgets: readonly Budget[];
  /** Chosen at first. */
  readonly customerId: string;
  readonly typed: {
    readonly customerId: string;
    readonly budgetId: string;
    readonly currency: string;
    readonly items: readonly TypedItem[];
  };
  readonly problem: FormProblem | undefined;
}

interface TypedItem {
  readonly description: string;
  readonly quantity: string;
  readonly unitAmount: string;
}

const labels = labelsOf(orderFields);
const emptyRows = 3;
const blank: TypedItem = { description: '', quantity: '', unitAmount: '' };

export function formPage(visitor: Visitor, view: FormView): Promise<string> {
  const { order, customers, budgets, customerId, typed, problem } = view;
  const errors = problem?.errors ?? {};
  const isTyped = typed.customerId !== '';
  const saved = {
    customerId: order?.customerId ?? customerId,
    budgetId: order?.budgetId ?? '',
    currency: order?.currency ?? '',
  };
  const value = isTyped ? typed : saved;
  const items = isTyped ? typed.items.filter(isFilled) : order ? savedItems(order) : [];
  const back = order ? pathOf(pageRoutes.order, order.id) : pageRoutes.orders;
  const budgetChoices = [
    ['', 'none'],
    ...budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`]),
  ] as [string, string][];
  const currencies = [
    ['', 'Currency of the budget, or USD'],
    ...currencyCodes().map((code) => [code, code]),
  ] as [string, string][];
  const main =
    customers.length === 0
      ? nothing(false)
      : html`${problems(problem, labels)}<form class="card form" method="post" action="${order ? pathOf(pageRoutes.editOrder, order.id) : pageRoutes.orders}" novalidate>
${visitor.csrfField}${onceField()}${order && html`<input type="hidden" name="version" value="${order.version}">`}
${field({ name: 'customerId', label: labels.customerId, type: 'select', value: value.customerId, error: errors.customerId, choices: customers.map(({ id, name }) => [id, name] as const) })}
${itemRows(items, errors)}
${field({ name: 'budgetId', label: labels.budgetId, type: 'select', value: value.budgetId, error: errors.budgetId, choices: budgetChoices, help: 'Budget that the order is booked on.' })}
${field({ name: 'currency', label: labels.currency, type: 'select', value: value.currency, error: errors.currency, choices: currencies })}
<div class="actions"><button>${order ? 'Save' : 'Create order'}</button>${linkButton(back, 'Cancel', 'quiet')}</div></form>`;
  return visitor.render({
    title: order ? 'Edit order' : 'New order',
    parent: { href: back, label: order ? 'Order' : 'Orders' },
    modules: ['order-items.js', 'amounts.js'],
    main,
  });
}

function isFilled(item: TypedItem): boolean {
  return Object.values(item).some((text) => text.trim() !== '');
}

function savedItems({ items, currency }: Order): TypedItem[] {
  return items.map(({ description, quantity, unitAmountMinor }) => ({
    description,
    quantity: String(quantity),
    unitAmount: typedText(unitAmountMinor, currency),
  }));
}

/** Rows of the items, and a few empty ones, which are left out when they stay empty. */
function itemRows(items: readonly TypedItem[], errors: Readonly<Record<string, string>>): Html {
  const rows = [...items, ...Array.from({ length: emptyRows }, () => blank)];
  const cell = (
    name: keyof TypedItem,
    label: string,
    { index, item }: { index: number; item: TypedItem },
  ) => {
    const error = errors[`items[${index}].${name}`];
    const mode =
      name === 'unitAmount'
        ? amountAttributes()
        : { inputmode: name === 'quantity' ? 'numeric' : 'text', autocomplete: 'off' };
    return html`<td data-label="${label}"><input type="text" name="${name}" value="${item[name]}" ${attributes(mode)} aria-label="${`${label} of item ${index + 1}`}" aria-invalid="${error ? 'true' : 'false'}">${error && html`<small class="negative">${error}</small>`}</td>`;
  };
  return html`<div data-items><table class="table cards"><caption class="hidden">Items</caption>
<thead><tr><th scope="col">Item</th><th scope="col">Quantity</th><th scope="col">Price</th></tr></thead>
<tbody>${rows.map(
    (item, index) =>
      html`<tr>${cell('description', 'Item', { index, item })}${cell('quantity', 'Quantity', { index, item })}${cell('unitAmount', 'Price', { index, item })}</tr>`,
  )}</tbody></table>${errors.items && html`<p class="negative">Items ${errors.items}</p>`}<p class="muted small" data-without-script>Save to get more rows.</p></div>`;
}

export function deletionPage(visitor: Visitor, { id, items }: Order): Promise<string> {
  const cancelHref = pathOf(pageRoutes.order, id);
  return visitor.render({
    title: 'Delete order',
    parent: { href: cancelHref, label: 'Order' },
    main: confirm({
      title: `Delete “${titleOf(items)}”?`,
      text: 'Only orders that are pending can be deleted. This cannot be undone.',
      action: pathOf(pageRoutes.deleteOrder, id),
      csrfField: visitor.csrfField,
      deed: 'Delete order',
      cancelHref,
    }),
  });
}
