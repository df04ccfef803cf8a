import { field, isoTime, type Static, Type, withoutLabels } from '@octavo/core';
import { Id, Instant, nullable, text } from '../edges/schemas.ts';
import type { CustomerRow } from '../store/tables.ts';

export const Customer = Type.Object(
  {
    id: Id,
    name: Type.String({ examples: ['Ada Lovelace'] }),
    email: nullable(Type.String()),
    phone: nullable(Type.String()),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Customer' },
);
export type Customer = Static<typeof Customer>;

/** The fields of a customer that people write, as those of budgets. */
export const customerFields = {
  name: field('Name', text(200, { examples: ['Ada Lovelace'] })),
  email: Type.Optional(
    field(
      'E-mail address',
      nullable(Type.String({ maxLength: 320, format: 'text', examples: ['ada@example.com'] })),
    ),
  ),
  phone: Type.Optional(field('Phone', nullable(text(50, { examples: ['+44 20 7946 0000'] })))),
};
const inputFields = withoutLabels(customerFields);

export const CustomerInput = Type.Object(inputFields, { title: 'CustomerInput' });
export type CustomerInput = Static<typeof CustomerInput>;

export const CustomerPatch = Type.Object(
  { ...inputFields, name: Type.Optional(text(200)) },
  { title: 'CustomerPatch', description: 'Fields that are left out stay unchanged' },
);
export type CustomerPatch = Static<typeof CustomerPatch>;

export function toCustomer({ id, name, email, phone, version, ...row }: CustomerRow): Customer {
  const createdAt = isoTime(row.created_at_ms);
  const updatedAt = isoTime(row.updated_at_ms);
  return { id, name, email, phone, createdAt, updatedAt, version };
}
