import { type Static, Type } from '@octavo/core';
import { createParser } from '../edges/schema-parser.ts';

const seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const messages = {
  auth: Type.Object({ type: Type.Literal('auth'), token: Type.Optional(Type.Unknown()) }),
  resume: Type.Object({ type: Type.Literal('resume'), lastSeq: Type.Optional(seq) }),
  ack: Type.Object({ type: Type.Literal('ack'), seq }),
  ping: Type.Object({ type: Type.Literal('ping'), t: Type.Optional(Type.Unknown()) }),
} as const;

type Messages = typeof messages;

/** A message of a client. */
export type ClientMessage = { [K in keyof Messages]: Static<Messages[K]> }[keyof Messages];

const parsers: Readonly<Record<string, (given: unknown) => ClientMessage>> = Object.fromEntries(
  Object.entries(messages).map(([type, schema]) => [type, createParser(schema)]),
);

/** A text frame as a message. Throws an error in words for the client. */
export function parseMessage(text: string): ClientMessage {
  const { type } = (parseJson(text) ?? {}) as { type?: unknown };
  const parse = typeof type === 'string' && Object.hasOwn(parsers, type) ? parsers[type] : undefined;
  if (!parse) throw new TypeError('A message is an object with the type auth, resume, ack or ping.');
  return parse(parseJson(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError('A message must be JSON.');
  }
}
