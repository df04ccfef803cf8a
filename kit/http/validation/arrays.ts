import type { Compile, JsonSchema, Read } from './schema.ts';

/** Reads a list. One that is too long is refused before its items are looked at. */
export function arrayReader(schema: JsonSchema, compile: Compile): Read {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems = false } = schema;
  if (Array.isArray(schema.items)) throw new Error('tuples are not known here');
  const readItem = compile(schema.items ?? {});
  return (value, problems) => {
    if (!Array.isArray(value)) return problems.add('must be an array');
    if (value.length < minItems) return problems.add(`must have at least ${count(minItems)}`);
    if (value.length > maxItems) return problems.add(`must have at most ${count(maxItems)}`);
    const clean = value.map((item, index) => {
      problems.enter(index);
      const cleanItem = readItem(item, problems);
      problems.leave();
      return cleanItem;
    });
    if (uniqueItems && new Set(clean.map((item) => JSON.stringify(item))).size < clean.length) {
      return problems.add('must not have the same item twice');
    }
    return clean;
  };
}

function count(items: number): string {
  return items === 1 ? '1 item' : `${items} items`;
}
