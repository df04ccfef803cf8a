import { type Caller, type Context, runCommand } from '../commands.ts';
import type { Store } from '../store/tables.ts';
import { kindOf, type NotificationType, notificationTypes } from './notification.ts';
import { choiceOf, putChoice } from './store.ts';

const shownByDefault = notificationTypes.filter((type) => kindOf(type).isShown);

/** The kinds that pages count and show to an account. */
export async function shownKinds(store: Store, owner: number): Promise<readonly NotificationType[]> {
  const row = await choiceOf(store, owner);
  if (!row) return shownByDefault;
  const chosen: unknown = JSON.parse(row.shown);
  return notificationTypes.filter((type) => Array.isArray(chosen) && chosen.includes(type));
}

/** Chooses the kinds that pages show. All events are notifications as before, and reach other clients. */
export async function chooseKinds(
  context: Context,
  caller: Caller,
  kinds: readonly NotificationType[],
): Promise<void> {
  const shown = JSON.stringify(notificationTypes.filter((type) => kinds.includes(type)));
  await runCommand(context, caller, ({ session, owner }) => putChoice(session, { owner, shown }));
}
