import pg, { type CustomTypesConfig } from 'pg';

const { builtins } = pg.types;

/**
 * Parsers that make rows of PostgreSQL look like those of SQLite: integers and numerics as numbers (beyond 2^53 is an error,
 * not a wrong number), booleans as 1 and 0, bytea as Uint8Array, everything else (JSON, times) as its text.
 */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [builtins.INT2, Number],
  [builtins.INT4, Number],
  [builtins.INT8, safeNumber],
  [builtins.OID, Number],
  [builtins.FLOAT4, Number],
  [builtins.FLOAT8, Number],
  [builtins.NUMERIC, safeNumber],
  [builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
  [builtins.BYTEA, (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))],
]);

/** Types of the columns of each row. */
export const rowTypes: CustomTypesConfig = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? ((text: string) => text),
};

function safeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) && !text.includes('.')) {
    throw new RangeError(`${text} is too large for a number: keep integers within 2^53`);
  }
  return number;
}
