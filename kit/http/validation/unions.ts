import type { Compile, JsonSchema, Read } from './schema.ts';

/** Reads one permitted value. */
export function constReader(permitted: unknown): Read {
  return (value, problems) => (value === permitted ? value : problems.add(`must be ${String(permitted)}`));
}

/** Reads one of a few permitted values. */
export function enumReader(permitted: readonly unknown[]): Read {
  const set = new Set(permitted);
  const problem = `must be one of ${permitted.map(String).join(', ')}`;
  return (value, problems) => (set.has(value) ? value : problems.add(problem));
}

/** Reads a value by the first schema that it fits. Alternatives that are all constants read like an enumeration. */
export function anyOfReader(schemas: readonly JsonSchema[], compile: Compile): Read {
  if (schemas.every((schema) => schema.const !== undefined)) {
    return enumReader(schemas.map((schema) => schema.const));
  }
  const reads = schemas.map(compile);
  const meant = schemas.findIndex((schema) => schema.type !== 'null');
  const isPlain = schemas.filter((schema) => schema.type !== 'null').length === 1;
  return (value, problems) => {
    const trials = [];
    for (const read of reads) {
      const trial = problems.trial(() => read(value, problems));
      if (!trial.fields) return trial.value;
      trials.push(trial.fields);
    }
    if (isPlain) problems.addAll(trials[meant] ?? {});
    else problems.add('does not have a permitted form');
    return undefined;
  };
}
