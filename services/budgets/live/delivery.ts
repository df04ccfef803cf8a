import { parseRaw } from '@octavo/core/text';
import type { Caller, Context } from '../commands.ts';
import { keptMs, type LiveEvent } from '../feed/index.ts';
import { followNotifications, lastNotification, type Notification } from '../notifications/index.ts';

/** Number of notifications that can be replayed, besides the limit on their age. */
const keptMax = 10_000;
const pageSize = 200;
/** Live messages that may wait for a slow client. */
const waitingMax = 1_000;

/** Receiver of messages. `send` resolves when the message was handed to the network. */
export interface Receiver {
  send(text: string): Promise<void>;
  /** Sends to one of many sockets that get the same bytes of UTF-8: without a promise for each. */
  push(bytes: Buffer, onSent: () => void): void;
  /** The client reads too slowly. */
  tooSlow(): void;
}

/**
 * Delivers the notifications of one client once each and in order: first those since a number, read from the database page by page at
 * the client's pace, then live ones as they are committed. A hole in the live ones is filled from the database.
 */
export class Delivery {
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #receiver: Receiver;
  #position = 0;
  #newest = 0;
  #isLive = false;
  #isReading = false;
  #waiting = 0;
  #isStopped = false;
  readonly #onSent = () => {
    this.#waiting--;
  };

  constructor({ context, caller, receiver }: { context: Context; caller: Caller; receiver: Receiver }) {
    this.#context = context;
    this.#caller = caller;
    this.#receiver = receiver;
  }

  /** Starts after a number: the last one that the client has, or that of its sign-in. Rejects if the database fails. */
  async start(afterSeq: number): Promise<void> {
    const last = await lastNotification(this.#context, this.#caller);
    this.#position = Math.min(afterSeq, last);
    this.#newest = Math.max(this.#newest, last);
    const oldest = last - keptMax;
    if (this.#position < oldest) await this.#skipTo(oldest);
    await this.#read();
  }

  /** Takes an event of the hub. */
  take(event: LiveEvent): void {
    this.#newest = Math.max(this.#newest, event.seq);
    if (!this.#isLive || event.seq <= this.#position) return;
    if (event.seq !== this.#position + 1) {
      void this.#read().catch(() => this.stop());
      return;
    }
    this.#position = event.seq;
    this.#sendLive(bytesOf(event));
  }

  stop(): void {
    this.#isStopped = true;
    this.#isLive = false;
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#isLive = false;
    try {
      while (!this.#isStopped) {
        const sinceMs = this.#context.clock.now() - keptMs;
        const range = { afterSeq: this.#position, sinceMs, limit: pageSize };
        const page = await followNotifications(this.#context, this.#caller, range);
        for (const notification of page) {
          if (this.#isStopped) return;
          if (notification.seq > this.#position + 1) await this.#skipTo(notification.seq - 1);
          await this.#receiver.send(messageOf(notification));
          this.#position = notification.seq;
        }
        if (page.length > 0) continue;
        // Missing notifications are too old, or about a budget that is no longer shared with the client.
        if (this.#newest > this.#position) await this.#skipTo(this.#newest);
        this.#isLive = true;
        return;
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** Tells the client which notifications it cannot have. */
  async #skipTo(seq: number): Promise<void> {
    await this.#receiver.send(JSON.stringify({ type: 'gap', from: this.#position + 1, to: seq }));
    this.#position = seq;
  }

  #sendLive(bytes: Buffer): void {
    if (this.#waiting >= waitingMax) {
      this.stop();
      this.#receiver.tooSlow();
      return;
    }
    this.#waiting++;
    this.#receiver.push(bytes, this.#onSent);
  }
}

function messageOf({ seq, id, type, message, data, createdAt }: Notification): string {
  return JSON.stringify({ type: 'notification', seq, id, event: type, message, data, createdAt });
}

const messages = new WeakMap<LiveEvent, Buffer>();

/** The message of an event, written once for all clients. */
function bytesOf(event: LiveEvent): Buffer {
  const known = messages.get(event);
  if (known !== undefined) return known;
  const { seq, eventId: id, event: type, message, data, occurredAt: createdAt } = event;
  const text = messageOf({ seq, id, type, message, data: parseRaw(data), createdAt } as Notification);
  const bytes = Buffer.from(text);
  messages.set(event, bytes);
  return bytes;
}
