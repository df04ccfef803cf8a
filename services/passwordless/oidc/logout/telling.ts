import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Provider } from 'oidc-provider';
import type { Tables } from '../../store/store.ts';
import { queueLogout } from './store-logouts.ts';

/** A client with the method that the types leave out. */
interface TellingClient {
  readonly clientId: string;
  backchannelLogout(userId: string, sid: string): Promise<unknown>;
}

const senders = new WeakMap<Provider, TellingClient['backchannelLogout']>();

/** The library tells applications once. A queue in the database tries for an hour, so the library fills that. */
export function queueLogouts(
  provider: Provider,
  { database, clock }: { readonly database: Database<Tables>; readonly clock: Clock },
): void {
  const prototype = provider.Client.prototype as unknown as TellingClient;
  senders.set(provider, prototype.backchannelLogout);
  prototype.backchannelLogout = async function queue(userId, sid) {
    const logout = { clientId: this.clientId, userId, sid, nowMs: clock.now() };
    await database.write((session) => queueLogout(session, logout));
  };
}

/** Sends the message of the back channel to an application. Throws if it does not confirm. */
export async function tellClient(
  provider: Provider,
  logout: { readonly clientId: string; readonly userId: string; readonly sid: string },
): Promise<void> {
  const client = await provider.Client.find(logout.clientId);
  await senders.get(provider)?.call(client as unknown as TellingClient, logout.userId, logout.sid);
}
