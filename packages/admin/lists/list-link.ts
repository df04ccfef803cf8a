import { type ModelVisit, queryOf } from '../context.ts';
import { ListState } from './state.ts';

/** The parameter by which the page of an object remembers the list that it was opened from, as in Django. */
const parameter = '_changelist_filters';

/** The address of a page that leads back to this list, with its filters, order and page. */
export function fromList(path: string, state: ListState): string {
  return remembering(path, state.here.split('?')[1]);
}

/** Another page of the same model, which leads back to the list that this one leads back to. */
export function keepingList(context: ModelVisit, path: string): string {
  return remembering(path, listOf(context).split('?')[1]);
}

/** The list that a page was opened from, as it was there; without one the list as a whole. */
export function listOf(context: ModelVisit): string {
  const remembered = new URLSearchParams(queryOf(context).get(parameter) ?? '');
  return new ListState(context.model, remembered, context.registry.clock.now()).here;
}

function remembering(path: string, query: string | undefined): string {
  return query ? `${path}?${new URLSearchParams({ [parameter]: query })}` : path;
}
