interface Format {
  holds(value: string): boolean;
  readonly problem: string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** The values of `format` that are checked. `text` is ours: what every database and every encoding can hold. */
export const formats: ReadonlyMap<string, Format> = new Map([
  [
    'text',
    {
      holds: (value) => value.isWellFormed() && !value.includes('\u0000'),
      problem: 'must be well-formed Unicode without U+0000',
    },
  ],
  ['uuid', { holds: (value) => uuid.test(value), problem: 'must be a UUID' }],
  [
    'date-time',
    {
      holds: (value) => dateTime.test(value) && !Number.isNaN(Date.parse(value)),
      problem: 'must be a time such as 2026-01-31T12:00:00Z',
    },
  ],
]);
