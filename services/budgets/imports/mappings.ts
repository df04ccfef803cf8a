import { createHash } from 'node:crypto';
import { folded } from '@octavo/web/imports';
import type { Caller, Context } from '../commands.ts';
import type { Store } from '../store/tables.ts';
import type { Mapping, Reading, ReadOptions } from './formats/reading.ts';
import { findMapping, putMapping } from './store.ts';

/** Mappings of a person that are remembered. */
const rememberedMax = 100;

type Remembered = Pick<ReadOptions, 'mapping' | 'sign' | 'dateFormat' | 'decimal'>;

/** Remembers how a CSV file is read, for the next one with the same names of columns. */
export async function rememberReading(
  { db, clock }: Context,
  { owner }: Caller,
  reading: Reading,
): Promise<void> {
  const header = headerOf(reading);
  if (header === undefined) return;
  const { sign, dateFormat, decimal } = reading;
  const options = JSON.stringify({ mapping: mappingOf(reading), sign, dateFormat, decimal });
  const row = { owner, header, options, used_at_ms: clock.now(), max: rememberedMax };
  await db.write((session) => putMapping(session, row));
}

/** The choices for an earlier file with the same names of columns. What the file itself tells counts more than they do. */
export async function rememberedFor(
  session: Store,
  owner: number,
  reading: Reading,
): Promise<Remembered | undefined> {
  const header = headerOf(reading);
  if (header === undefined) return undefined;
  const row = await findMapping(session, { owner, header });
  if (!row) return undefined;
  const { mapping, sign, ...unclear } = JSON.parse(row.options) as Remembered;
  const open = reading.unclear.map(({ option }) => [option, unclear[option]] as const);
  return { mapping, sign, ...Object.fromEntries(open) };
}

/** A hash of the names of columns; undefined if there are none. */
function headerOf({ format, header, names }: Reading): string | undefined {
  if (format !== 'csv' || header === null) return undefined;
  return createHash('sha256')
    .update(JSON.stringify(names.map(folded)))
    .digest('base64url');
}

/** Columns by their names, or by their numbers where several have one name. */
function mappingOf({ columns, names }: Reading): Mapping {
  const nameOf = (place: number) => {
    const name = names[place] ?? '';
    return name !== '' && names.indexOf(name) === names.lastIndexOf(name) ? name : String(place + 1);
  };
  return Object.fromEntries(Object.entries(columns).map(([field, places]) => [field, places.map(nameOf)]));
}
