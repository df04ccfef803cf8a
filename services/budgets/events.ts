import type { Expanded } from '#kit/events/index.ts';
import { UserEvent } from '#proto/budget/v1/events.ts';

/** The event of a row of the outbox. Its subject is the id of what it is about. */
export function expandEvents(_type: string, data: Uint8Array): Expanded[] {
  const { data: resource, eventId } = UserEvent.decode(data);
  const { id, budgetId } = JSON.parse(resource) as { id?: string; budgetId?: string };
  return [{ subject: id ?? budgetId ?? eventId, data }];
}
