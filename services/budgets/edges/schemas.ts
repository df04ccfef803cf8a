import { type Static, type TSchema, Type } from '@octavo/core';
import type { RawJson } from '@octavo/core/text';
import { notBlank } from '@octavo/core/text';

/** The id of something that belongs to the caller. */
export const Id = Type.String({ format: 'uuid', examples: ['01932c07-8a3b-7c55-9d0e-0c1a4c1d2f3b'] });
export const Instant = Type.String({ format: 'date-time' });
export const Day = Type.String({ format: 'date', examples: ['2026-01-31'] });
export const Currency = Type.String({
  pattern: '^[A-Z]{3}$',
  'x-problem': 'must be the code of a currency (ISO 4217), such as USD',
  examples: ['USD'],
});

/** An amount in responses: the exact number, and the same in minor units of the currency. */
export const Amount = Type.Number({ examples: [12.5] });
export const Minor = Type.Integer({ description: 'In minor units of the currency', examples: [1250] });

/** A sum of amounts in responses, which may have more digits than a number of JavaScript. */
export function sum(options: { description?: string; examples?: readonly number[] } = {}) {
  return Type.Unsafe<number | RawJson>({ type: 'number', examples: [12.5], 'x-exact': true, ...options });
}

/** A sum in minor units: a bigint above 2^53. */
export const MinorSum = Type.Unsafe<number | bigint>({
  type: 'integer',
  description: 'In minor units of the currency',
  examples: [1250],
});

/** An amount in requests. Its digits are checked when the currency is known. */
export const AmountInput = Type.Union([Type.Number(), Type.String({ maxLength: 100 })], {
  description:
    'A number, or a decimal string such as "12.50"; at most the decimals of the currency, and 15 digits in total',
  examples: [12.5],
  'x-problem': 'must be a number, such as 12.50',
  'x-exact': true,
});

/** Another person, as far as those who share a budget see each other. */
export const Person = Type.Object(
  {
    id: Id,
    username: Type.Union([Type.String({ examples: ['alice'] }), Type.Null()], {
      description: 'Without one, the part of the e-mail address before the @',
    }),
  },
  { title: 'Person' },
);
export type Person = Static<typeof Person>;

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** Text of 1 to `maxLength` characters, at least one of which is visible. */
export function text(maxLength: number, options: Readonly<Record<string, unknown>> = {}) {
  return Type.String({
    minLength: 1,
    maxLength,
    format: 'text',
    ...notBlank,
    ...options,
  });
}

/** The id of another object in a request. A missing one, or another user's, is 404. */
export const Reference = Type.String({ format: 'text' });
