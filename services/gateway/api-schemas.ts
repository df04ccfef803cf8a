import { type TSchema, Type } from '#kit/schema.ts';
import { largestId } from './post.ts';

/** What `/openapi.json` says of an operation besides its shapes. */
export function operation(operationId: string, summary: string) {
  return { operationId, summary };
}

export const PostId = Type.Object({ id: Type.Integer({ minimum: 1, maximum: largestId }) });

export const Meta = Type.Object(
  {
    requestId: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
  },
  {
    examples: [{ requestId: '5f0c8c1e-6a5e-4a53-9d0e-0c1a4c1d2f3b', timestamp: '2026-01-31T08:15:00.000Z' }],
  },
);

export const TimedMeta = Type.Object(
  {
    ...Meta.properties,
    duration: Type.Integer({ description: 'Nanoseconds' }),
  },
  {
    examples: [
      {
        requestId: '5f0c8c1e-6a5e-4a53-9d0e-0c1a4c1d2f3b',
        timestamp: '2026-01-31T08:15:00.000Z',
        duration: 1_250_000,
      },
    ],
  },
);

/** `{ data }` as most answers have it. */
export function dataOf<T extends TSchema>(data: T) {
  return Type.Object({ data });
}

export function dataWithMeta<T extends TSchema>(data: T) {
  return Type.Object({ data, meta: Meta });
}

/** A file, for `/openapi.json`. */
export function fileOf(mediaTypes: Readonly<Record<string, TSchema>>, description: string) {
  return {
    description,
    content: Object.fromEntries(Object.entries(mediaTypes).map(([type, schema]) => [type, { schema }])),
  };
}
