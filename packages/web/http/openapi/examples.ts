type Schema = Readonly<Record<string, unknown>>;

/** A value that fits a schema: its author's example, or else the simplest one. */
export function exampleOf(schema: Schema): unknown {
  const { examples, anyOf, properties, items } = schema as Readonly<Record<string, Schema[] & Schema>>;
  if (examples?.length) return examples[0];
  for (const keyword of ['example', 'default', 'const'] as const) {
    if (schema[keyword] !== undefined) return schema[keyword];
  }
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (anyOf) return exampleOf(anyOf.find((each) => each.type !== 'null') ?? {});
  if (properties) {
    return Object.fromEntries(
      Object.entries(properties).map(([key, each]) => [key, exampleOf(each as Schema)]),
    );
  }
  if (schema.type === 'array') {
    return Array.from({ length: Math.max(1, Number(schema.minItems ?? 1)) }, () => exampleOf(items ?? {}));
  }
  return plainExample(schema);
}

/** A schema that fits an example, with all its keys required. An empty object becomes a map of texts. */
export function schemaOf(example: unknown): Schema {
  if (example === null) return { type: 'null' };
  if (Array.isArray(example)) return { type: 'array', items: example.length > 0 ? schemaOf(example[0]) : {} };
  if (typeof example !== 'object') return { type: typeof example };
  const entries = Object.entries(example);
  if (entries.length === 0) return { type: 'object', additionalProperties: { type: 'string' } };
  return {
    type: 'object',
    required: entries.map(([key]) => key),
    properties: Object.fromEntries(entries.map(([key, value]) => [key, schemaOf(value)])),
  };
}

function plainExample(schema: Schema): unknown {
  switch (schema.type) {
    case 'string':
      return textExample(schema);
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'object':
      return {};
    default:
      return null;
  }
}

function textExample({ format, minLength = 0, maxLength = 255 }: Schema): string {
  if (format === 'date-time') return '2026-01-31T12:00:00.000Z';
  if (format === 'uuid') return '5f0c8c1e-6a5e-4a53-9d0e-0c1a4c1d2f3b';
  return 'text'.padEnd(Number(minLength), ' text').slice(0, Number(maxLength));
}
