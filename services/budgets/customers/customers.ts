import { normalizeEmail } from '#kit/auth/email.ts';
import type { Session } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import { newOrderedId } from '#kit/ids.ts';
import { invalid } from '#kit/schema-parser.ts';
import { type Caller, type Core, runCommand } from '../commands.ts';
import { type Page, type PageRequest, pageByTime, placeByTime } from '../paging.ts';
import type { CustomerRow, Tables } from '../tables.ts';
import { checkVersion, type Versions } from '../versions.ts';
import { type Customer, type CustomerInput, type CustomerPatch, toCustomer } from './customer.ts';
import {
  countCustomers,
  customerById,
  customersPage,
  deleteCustomerRow,
  insertCustomer,
  updateCustomerRow,
} from './store.ts';

export function createCustomer(core: Core, caller: Caller, given: CustomerInput): Promise<Customer> {
  const email = addressOf(given.email) ?? null;
  return runCommand(core, caller, async ({ session, owner, nowMs }) => {
    const { name, phone = null } = given;
    const row = { owner, id: newOrderedId(), name, email, phone, created_at_ms: nowMs };
    return toCustomer((await insertCustomer.first(session, row)) as CustomerRow);
  });
}

export async function getCustomer({ db }: Core, { owner }: Caller, id: string): Promise<Customer> {
  return toCustomer(await requireCustomer(db, owner, id));
}

/** Customers, newest first. */
export async function listCustomers(
  { db }: Core,
  { owner }: Caller,
  request: PageRequest,
): Promise<Page<Customer>> {
  const rows = await customersPage.all(db, { owner, ...placeByTime(request) });
  const total = (await countCustomers.first(db, { owner }))?.total ?? 0;
  return pageByTime(rows, { request, total, view: toCustomer });
}

export function updateCustomer(
  core: Core,
  caller: Caller,
  id: string,
  { versions, ...given }: CustomerPatch & { readonly versions?: Versions },
): Promise<Customer> {
  const email = addressOf(given.email);
  return runCommand(core, caller, async ({ session, owner, nowMs }) => {
    const before = await requireCustomer(session, owner, id);
    checkVersion(before.version, versions);
    const row = {
      ...{ owner, id },
      name: given.name ?? before.name,
      email: email === undefined ? before.email : email,
      phone: given.phone === undefined ? before.phone : given.phone,
      updated_at_ms: nowMs,
    };
    return toCustomer((await updateCustomerRow.first(session, row)) as CustomerRow);
  });
}

/** Throws `conflict` for a customer with orders. */
export function deleteCustomer(
  core: Core,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ message: string; id: string }> {
  return runCommand(core, caller, async ({ session, owner }) => {
    const { version } = await requireCustomer(session, owner, id);
    checkVersion(version, versions);
    const { changes } = await deleteCustomerRow.run(session, { owner, id });
    if (changes === 0) throw new AppError('conflict', 'This customer has orders.');
    return { message: 'Customer deleted', id };
  });
}

/** The caller's own customer. Throws `not_found` for that of somebody else too. */
export async function requireCustomer(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<CustomerRow> {
  const row = await customerById.first(session, { owner, id });
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
