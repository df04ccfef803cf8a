import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import { type ModelVisit, queryOf } from './context.ts';
import { ListState } from './list-state.ts';
import { findChoices } from './table-list.ts';

/** Objects that match what somebody types into a field that refers to one: `{"choices":[{"id":"12","title":"Eliot"}]}`. */
export async function sendChoices(context: ModelVisit): Promise<FastifyReply> {
  const { site, model, visit } = context;
  if (model.kind !== 'table') throw new AppError('not_found', 'There is nothing at this address.');
  const state = new ListState(model, queryOf(context), site.clock.now());
  const found = await findChoices(site, model, state.query.words);
  return visit.reply
    .header('cache-control', 'no-store')
    .type('application/json')
    .send({ choices: found.map(([id, title]) => ({ id, title })) });
}
