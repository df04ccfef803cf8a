import { text } from 'node:stream/consumers';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { jsonText } from '../output.ts';

/** Prints `data` of the response as JSON. */
export async function graphql({ client, operands, options, output }: Context): Promise<void> {
  const query = operands[0] === '-' ? await text(process.stdin) : operands[0];
  const { data, errors } = await client.post<{ data?: unknown; errors?: { message: string }[] }>(
    '/api/graphql',
    {
      query,
      variables: readVariables(options.variables),
    },
  );
  if (data !== undefined && data !== null) output.line(jsonText(data, output.json ? 0 : 2));
  if (errors) throw new Failure('refused', errors.map(({ message }) => message).join('\n'));
}

function readVariables(value: Context['options'][string]): unknown {
  if (typeof value !== 'string') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    throw new Failure('usage', '--variables must be a JSON object.');
  }
}
