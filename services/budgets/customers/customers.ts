import { AppError, newOrderedId, notFound } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';
import type { Session } from '@octavo/data';
import type { Page, PageRequest } from '@octavo/web/rest';
import { checkVersion, type Versions } from '@octavo/web/rest';
import { type Caller, type Context, runCommand } from '../commands.ts';
import { pageByTime, placeByTime } from '../edges/paging.ts';
import { invalid } from '../edges/schema-parser.ts';
import { countOwned, ownedRow } from '../store/owned.ts';
import type { CustomerRow, Tables } from '../store/tables.ts';
import { type Customer, type CustomerInput, type CustomerPatch, toCustomer } from './customer.ts';
import { customersPage, deleteCustomerRow, insertCustomer, updateCustomerRow } from './store.ts';

export function createCustomer(context: Context, caller: Caller, given: CustomerInput): Promise<Customer> {
  const email = addressOf(given.email) ?? null;
  return runCommand(context, caller, async ({ session, owner, nowMs }) => {
    const { name, phone = null } = given;
    const row = { owner, id: newOrderedId(), name, email, phone, created_at_ms: nowMs };
    return toCustomer(await insertCustomer(session, row));
  });
}

export async function getCustomer({ db }: Context, { owner }: Caller, id: string): Promise<Customer> {
  return toCustomer(await requireCustomer(db, owner, id));
}

/** Customers, newest first. */
export async function listCustomers(
  { db }: Context,
  { owner }: Caller,
  request: PageRequest,
): Promise<Page<Customer>> {
  const rows = await customersPage(db, { owner, ...placeByTime(request) });
  const total = await countOwned(db, 'customer', owner);
  return pageByTime(rows, { request, total, view: toCustomer });
}

export function updateCustomer(
  context: Context,
  caller: Caller,
  id: string,
  { versions, ...given }: CustomerPatch & { readonly versions?: Versions },
): Promise<Customer> {
  const email = addressOf(given.email);
  return runCommand(context, caller, async ({ session, owner, nowMs }) => {
    const before = await requireCustomer(session, owner, id);
    checkVersion(before.version, versions);
    const row = {
      owner,
      id,
      name: given.name ?? before.name,
      email: email === undefined ? before.email : email,
      phone: given.phone === undefined ? before.phone : given.phone,
      updated_at_ms: nowMs,
    };
    return toCustomer((await updateCustomerRow(session, row)) as CustomerRow);
  });
}

/** Throws `conflict` for a customer with orders. */
export function deleteCustomer(
  context: Context,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ message: string; id: string }> {
  return runCommand(context, caller, async ({ session, owner }) => {
    const { version } = await requireCustomer(session, owner, id);
    checkVersion(version, versions);
    const { numDeletedRows } = await deleteCustomerRow(session, owner, id);
    if (numDeletedRows === 0n) throw new AppError('conflict', 'This customer has orders.');
    return { message: 'Customer deleted', id };
  });
}

/** The caller's own customer. Throws `not_found` for any other. */
export async function requireCustomer(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<CustomerRow> {
  const row = await ownedRow(session, 'customer', { owner, id });
  if (!row) throw notFound('customer', id);
  return row;
}

/** Null for an address that is taken away, undefined where none is given. */
function addressOf(given: string | null | undefined): string | null | undefined {
  if (given === undefined || given === null) return given;
  if (given.trim() === '') return null;
  const email = normalizeEmail(given);
  if (email === undefined) throw invalid({ email: 'must be an e-mail address' });
  return email;
}
