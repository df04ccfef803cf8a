import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Notifier } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { Tables } from '../../tables.ts';
import { followTurn, isHeld, type TurnKey, type TurnState } from '../store.ts';
import { partsFrom, watchTurn } from '../store-parts.ts';
import type { TurnEvent } from '../turn.ts';
import type { TurnControl } from './turn-stream.ts';

/** Polling interval for a turn of another process. */
export const pollMs = 250;

export interface FollowParts {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  /** Called whenever a turn of this process has ended. */
  readonly ends: Notifier;
}

export interface FollowedTurn extends TurnKey {
  /** Its state when it was found. */
  readonly state: TurnState;
  /** True for watchers whose interest does not keep the turn from being stopped. */
  readonly isWatchedOnly?: boolean;
}

/**
 * Emits the events of a turn that another process runs or has run, about as they happen, and returns them all when it has ended.
 * Undefined if it has to be run again: because that process has died or was stopped, or because the turn failed.
 */
export async function followEvents(
  parts: FollowParts,
  turn: FollowedTurn,
  { emit, signal, restart }: TurnControl,
): Promise<readonly TurnEvent[] | undefined> {
  const { database, clock, ends } = parts;
  const { run, session, isStopping: isLate } = turn.state;
  let [emitted, first] = [0, 0];
  const pass = (event: TurnEvent) => {
    emitted++;
    emit(event);
  };
  let state: TurnState | undefined = turn.state;
  while (state && isHeld(state, clock.now())) {
    state = await touch(parts, turn);
    if (!state || !isHeld(state, clock.now())) break;
    // A repeated question after a cancellation gets a new answer.
    if (state.status === 'running' && !isLate) {
      const ids = { request_id: turn.requestId, session_id: session ?? '', message_id: run };
      if (emitted === 0) pass({ event: 'start', data: ids });
      for (const part of await partsFrom(database, turn, { run, first })) {
        for (const event of part.events.slice(Math.max(0, emitted - part.first))) pass(event);
        first = part.first + part.events.length;
      }
    }
    await ends.wait(pollMs, signal);
    if (signal.aborted) await stopFollowing(parts, turn);
  }
  if (!state?.events || (state.status === 'cancelled' && (isLate || !state.isStopping))) {
    if (emitted > 0) restart();
    return undefined;
  }
  for (const event of state.events.slice(emitted)) emit(event);
  return state.events;
}

function touch({ database, clock }: FollowParts, { state, isWatchedOnly }: FollowedTurn) {
  const nowMs = clock.now();
  return isWatchedOnly ? watchTurn(database, state.run, nowMs) : followTurn(database, state.run, { nowMs });
}

/** Throws, because the process ends or the last client here has stopped waiting. */
async function stopFollowing(
  { database, clock }: FollowParts,
  { state: { run }, isWatchedOnly }: FollowedTurn,
): Promise<never> {
  if (!isWatchedOnly) await followTurn(database, run, { nowMs: clock.now(), forMs: 2 * pollMs });
  throw new AppError('unavailable', 'The service is shutting down. Try again.', { retryAfterSeconds: 1 });
}
