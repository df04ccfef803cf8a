import { type FieldColumn, ImportProblem } from './rows.ts';

/** A field that a column of a CSV file can be imported into. */
export interface ImportField {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** Names that other programs give to its column, the best first, in lower case and without spaces and signs. */
  readonly synonyms: readonly string[];
}

/** The column of each field by its name in the file. */
export type Mapping = Readonly<Record<string, string>>;

/** Finds a column for each field by its name and synonyms. No column is taken twice. */
export function guessMapping(fields: readonly ImportField[], header: readonly string[]): Mapping {
  const mapping: Record<string, string> = {};
  const free = new Set(header.filter((name) => name !== ''));
  for (const { name, synonyms } of fields) {
    const names = [simplified(name), ...synonyms];
    const found = names.flatMap((each) => [...free].filter((column) => simplified(column) === each))[0];
    if (found === undefined) continue;
    mapping[name] = found;
    free.delete(found);
  }
  return mapping;
}

/** True for a header that has the columns of a mapping, or else one for each field that is required. */
export function isHeaderOf(
  fields: readonly ImportField[],
  mapping: Mapping | undefined,
  header: readonly string[],
): boolean {
  const names = header.map((name) => name.trim().toLowerCase());
  const chosen = Object.values(mapping ?? {}).filter((column) => column.trim() !== '');
  if (mapping) return chosen.every((column) => names.includes(column.trim().toLowerCase()));
  const guessed = guessMapping(fields, header);
  return fields.every(({ name, isRequired }) => !isRequired || guessed[name] !== undefined);
}

/** A sentence on lines above a table, for a page; undefined if there are none. */
export function aboveNote(above: number): string | undefined {
  if (above === 0) return undefined;
  return above === 1
    ? 'The first line of the file is left out, because the next one names the columns.'
    : `The first ${above} lines of the file are left out, because the next one names the columns.`;
}

function simplified(column: string): string {
  return column.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** The columns of the fields in a header. Throws {@link ImportProblem} where the file does not have those of the mapping. */
export function fieldsOfHeader(
  fields: readonly ImportField[],
  mapping: Mapping,
  header: readonly string[],
): FieldColumn[] {
  const names = header.map((name) => name.toLowerCase());
  const repeated = names.findIndex((name, index) => name !== '' && names.indexOf(name, index + 1) !== -1);
  if (repeated !== -1)
    throw new ImportProblem(`The first line of the file names the column ${header[repeated]} twice.`);
  const missing = fields.filter(({ name, isRequired }) => isRequired && !mapping[name]?.trim());
  if (missing.length > 0) {
    const labels = missing.map(({ label }) => label.toLowerCase()).join(' and the ');
    throw new ImportProblem(`Choose the column of the ${labels}.`);
  }
  const found: FieldColumn[] = [];
  for (const { name } of fields) {
    const column = mapping[name]?.trim() ?? '';
    if (column === '') continue;
    const index = names.indexOf(column.toLowerCase());
    if (index === -1) throw new ImportProblem(`The first line of the file does not name a column ${column}.`);
    if (found.some(([, taken]) => taken === index))
      throw new ImportProblem(`The column ${column} is chosen for two fields.`);
    found.push([name, index]);
  }
  return found;
}
