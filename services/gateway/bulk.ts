import { AppError, type Fields } from '#kit/errors.ts';
import { type Static, Type } from '#kit/schema.ts';
import { CreatePostRequest } from './post.ts';

export const bulkPostsMax = 1_000;

export const BulkCreateRequest = Type.Object(
  { posts: Type.Array(CreatePostRequest, { minItems: 1, maxItems: bulkPostsMax }) },
  { examples: [{ posts: [{ title: 'Fog over the harbour', body: 'The ferries wait.' }] }] },
);

export const BulkCreateResponse = Type.Object(
  {
    created: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Array(Type.String()),
    postIds: Type.Array(Type.Integer()),
  },
  {
    examples: [{ created: 1, failed: 1, errors: ['posts[1]: title: is required'], postIds: [43] }],
  },
);
export type BulkCreateResponse = Static<typeof BulkCreateResponse>;

/** What a bulk request came to: the rows that can be created, in order, and a line for each that cannot. */
export interface CheckedRows {
  readonly rows: CreatePostRequest[];
  readonly errors: string[];
}

/** A row as it is to be created, or what is wrong with it; compiled from {@link CreatePostRequest}. */
export type ReadRow = (row: unknown) => { value: CreatePostRequest; fields?: undefined } | { fields: Fields };

/** The name that {@link ReadRow} gives a row that is wrong as a whole. */
export const wholeRow = 'row';

/** Throws where the request as a whole is wrong; a bad row only becomes a line. */
export function checkRows(request: unknown, readRow: ReadRow): CheckedRows {
  const rows: CreatePostRequest[] = [];
  const errors: string[] = [];
  for (const [index, row] of rowsOf(request).entries()) {
    const reading = readRow(row);
    if (reading.fields) errors.push(`posts[${index}]: ${inWords(reading.fields)}`);
    else rows.push(reading.value);
  }
  return { rows, errors };
}

function rowsOf(request: unknown): unknown[] {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw invalid({ body: 'must be an object' });
  }
  const posts = Object.hasOwn(request, 'posts') ? (request as { posts: unknown }).posts : undefined;
  if (posts === undefined) throw invalid({ posts: 'is required' });
  if (!Array.isArray(posts)) throw invalid({ posts: 'must be an array' });
  if (posts.length === 0) throw invalid({ posts: 'must have at least 1 item' });
  if (posts.length > bulkPostsMax) throw invalid({ posts: `must have at most ${bulkPostsMax} items` });
  return posts;
}

function inWords(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, problem]) => (name === wholeRow ? problem : `${name}: ${problem}`))
    .join('; ');
}

function invalid(fields: Fields): AppError {
  const message = Object.entries(fields).map(([name, problem]) => `${name} ${problem}`);
  return new AppError('validation_failed', message.join('; '), { fields });
}
