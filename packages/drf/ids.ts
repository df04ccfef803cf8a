import { AppError } from '@octavo/core';
import { FormFields } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { fieldErrors } from './errors.ts';
import { FieldProblem, integer, typeName } from './fields.ts';

const idsMax = 1_000;

/**
 * The ids that a `DELETE` of a collection names: `{ "ids": [1, 2] }` in its body, or `?id=1&id=2`. Throws `invalid_input` if it
 * names none, so that nothing is deleted by mistake.
 */
export async function readIds({ body, query }: FastifyRequest): Promise<number[]> {
  const given =
    body instanceof FormFields ? body.values.ids : (body as { ids?: unknown } | null | undefined)?.ids;
  const [name, ids] = given === undefined ? ['id', (query as { id?: unknown }).id] : ['ids', given];
  const isList = Array.isArray(ids) || (ids !== undefined && (name === 'id' || body instanceof FormFields));
  const list = isList ? [ids].flat() : [];
  if (ids !== undefined && !isList) {
    throw fieldErrors({ [name]: [`Expected a list of items but got type "${typeName(ids)}".`] });
  }
  if (list.length === 0) throw new AppError('invalid_input', 'Name the ids to delete.');
  if (list.length > idsMax)
    throw fieldErrors({ [name]: [`Ensure this field has no more than ${idsMax} elements.`] });
  return Promise.all(list.map((id) => readId(name, id)));
}

/** A whole number, or a `fieldErrors` under a name. */
export async function readId(name: string, given: unknown): Promise<number> {
  try {
    return await integer().read(given);
  } catch (error) {
    if (error instanceof FieldProblem) throw fieldErrors({ [name]: error.sentences });
    throw error;
  }
}
