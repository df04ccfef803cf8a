import { isoTime } from '@octavo/core';
import type { RawJson } from '@octavo/core/text';
import { parseDecimal } from '@octavo/documents/values';
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { isDay } from '../money/periods.ts';

/** An exact amount. Literals are taken as their text, and long sums are given as {@link RawJson}, so that no digit is lost. */
export const Decimal = new GraphQLScalarType<string | number, number | RawJson>({
  name: 'Decimal',
  serialize: (value) => (JSON.isRawJSON(value) ? value : Number(value)),
  parseValue: parseAmount,
  parseLiteral: (node) =>
    node.kind === Kind.INT || node.kind === Kind.FLOAT || node.kind === Kind.STRING
      ? parseAmount(node.value)
      : refuse('Decimal must be a number or a string such as "12.50"'),
});

/** A day. */
export const Day = new GraphQLScalarType<string, string>({
  name: 'Date',
  serialize: String,
  parseValue: parseDay,
  parseLiteral: (node) => parseDay(textOf(node)),
});

/** A time, of a text or of milliseconds since the epoch. Clients never send one. */
export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  serialize: (value) => (typeof value === 'number' ? isoTime(value) : String(value)),
  parseValue: (value) => (typeof value === 'string' ? value : refuse('DateTime must be a string')),
});

function parseAmount(value: unknown): string | number {
  const isAmount = typeof value === 'number' || typeof value === 'string';
  if (isAmount && parseDecimal(value)) return value;
  return refuse('Decimal must be a number or a string such as "12.50"');
}

function parseDay(value: unknown): string {
  if (typeof value === 'string' && isDay(value)) return value;
  return refuse('Date must be a day such as 2026-03-15');
}

function textOf(node: ValueNode): unknown {
  return node.kind === Kind.STRING ? node.value : undefined;
}

function refuse(problem: string): never {
  throw new GraphQLError(problem);
}
