import type { FastifyReply } from 'fastify';
import { sendStream } from './stream.ts';

/** The headers of server-sent events. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy that compresses would hold events back.
  'cache-control': 'no-store, no-transform',
  // Otherwise nginx waits until it has a full buffer.
  'x-accel-buffering': 'no',
};

/**
 * Responds with server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): each item becomes the JSON of
 * one message, and `undefined` a comment that keeps the connection open. The next item is asked for when the client has read the
 * one before. An error before the first item becomes an error response.
 */
export function sendEvents(reply: FastifyReply, messages: AsyncIterable<unknown>): Promise<FastifyReply> {
  reply.headers(eventStreamHeaders);
  return sendStream(reply, encode(messages));
}

/** One event of {@link sendNamedEvents}: `data` becomes JSON. */
export interface NamedEvent {
  readonly id: number;
  readonly event: string;
  readonly data: unknown;
}

/** Sends events with names and ids, by which clients tell them apart and go on after a break (`Last-Event-ID`). */
export function sendNamedEvents(
  reply: FastifyReply,
  events: AsyncIterable<NamedEvent | undefined>,
): Promise<FastifyReply> {
  reply.headers(eventStreamHeaders);
  return sendStream(reply, encodeNamed(events));
}

async function* encodeNamed(events: AsyncIterable<NamedEvent | undefined>): AsyncGenerator<string> {
  for await (const item of events) {
    yield item === undefined
      ? ':\n\n'
      : `id: ${item.id}\nevent: ${item.event}\ndata: ${JSON.stringify(item.data)}\n\n`;
  }
}

async function* encode(messages: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const message of messages) {
    yield message === undefined ? ':\n\n' : `data: ${JSON.stringify(message)}\n\n`;
  }
}
