import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@octavo/core';
import { toAppError } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Server } from 'socket.io';
import type { SessionTurn, TurnEvent, TurnRegistry } from '../turns/index.ts';

/** Interval of looks for turns that other transports and processes have begun. */
const lookMs = 250;
/** Clocks of replicas may differ by that much. */
const skewMs = 1_000;
/** Time for which a turn is known that was shown to its end. */
const knownMs = 60_000;
const prefix = 'session:';

export type SentPacket = { readonly name: string; readonly data: unknown };

export interface RoomParts {
  readonly turns: TurnRegistry;
  readonly log: Log;
  packetOf(event: TurnEvent, requestId: string): SentPacket | undefined;
}

/** Name of the room of a session. */
export function roomOf(session: string): string {
  return `${prefix}${session}`;
}

/**
 * Sends the answers of sessions to the sockets that joined them, whichever process writes them and however they were asked for. The database
 * is asked for them while a socket of this process has joined a session.
 */
export class SessionRooms implements AsyncDisposable {
  readonly #io: Server;
  readonly #parts: RoomParts;
  /** Rooms with sockets here, with the time at which the first one joined. */
  readonly #joinedAtMs = new Map<string, number>();
  /** Runs that are or were shown, each with the sockets that asked for it and get its packets by themselves. */
  readonly #shown = new Map<string, Set<string>>();
  readonly #stop = new AbortController();
  readonly #looking: AsyncDisposable;
  #lookedAtMs = 0;

  constructor(io: Server, parts: RoomParts) {
    this.#io = io;
    this.#parts = parts;
    const { adapter } = io.of('/');
    adapter.on('create-room', (room: string) => {
      if (room.startsWith(prefix)) this.#joinedAtMs.set(room, parts.turns.parts.clock.now());
    });
    adapter.on('delete-room', (room: string) => this.#joinedAtMs.delete(room));
    this.#looking = runEvery(lookMs, () => this.#look());
  }

  /** Sends a turn to the room of its session, if anybody is there, but not to the sockets that asked for it. */
  show(turn: SessionTurn, asker?: string): void {
    if (!this.#joinedAtMs.has(roomOf(turn.session))) return;
    const askers = this.#shown.get(turn.run) ?? new Set();
    if (asker !== undefined) askers.add(asker);
    if (this.#shown.has(turn.run)) return;
    this.#shown.set(turn.run, askers);
    void this.#send(turn, askers).finally(() => {
      setTimeout(() => this.#shown.delete(turn.run), knownMs).unref();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looking[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    if (this.#joinedAtMs.size === 0) return;
    const { turns, log } = this.#parts;
    const sinceMs = Math.max(this.#lookedAtMs - skewMs, Math.min(...this.#joinedAtMs.values()));
    const nowMs = turns.parts.clock.now();
    try {
      for (const turn of await turns.inSessions(sinceMs)) {
        const joinedAtMs = this.#joinedAtMs.get(roomOf(turn.session));
        if (joinedAtMs !== undefined && (turn.endedAtMs ?? joinedAtMs) >= joinedAtMs) this.show(turn);
      }
      this.#lookedAtMs = nowMs;
    } catch (err) {
      // Those that end meanwhile are found when the database responds again.
      log.debug({ err }, 'turns of joined sessions could not be read');
    }
  }

  /** Sends a turn from its start to its end, also if the database does not respond for a while. */
  async #send(turn: SessionTurn, askers: ReadonlySet<string>): Promise<void> {
    const { signal } = this.#stop;
    for (let after = 0; !signal.aborted; ) {
      const stream = this.#parts.turns.watch(turn);
      try {
        for await (const event of stream.events(signal, { after, pauseMs: 60_000 })) {
          if (!event) continue;
          after = event.id;
          const packet = this.#parts.packetOf(event, turn.requestId);
          if (packet)
            this.#io
              .to(roomOf(turn.session))
              .except([...askers])
              .emit(packet.name, packet.data);
        }
        if (signal.aborted) stream.cancel();
        return;
      } catch (error) {
        if (toAppError(error).code === 'not_found') return;
        this.#parts.log.debug({ err: error }, 'a turn is watched again');
        await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }
}
