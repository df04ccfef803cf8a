/** Event with the attributes of CloudEvents 1.0 (https://github.com/cloudevents/spec). */
export interface StreamEvent {
  /** Unique within the source; the same if the event is delivered again. */
  readonly id: string;
  /** Producer of the event, such as `/octavo/posts`. */
  readonly source: string;
  /** Type of the event, such as `post.created.v1`. */
  readonly type: string;
  /** Subject of the event, such as the id of a post. */
  readonly subject: string;
  /** Milliseconds since the Unix epoch. */
  readonly timeMs: number;
  /** Protocol Buffers; `type` names the message. */
  readonly data: Uint8Array;
  /** The span that caused it, W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** The media type of every payload. */
export const payloadType = 'application/protobuf';

/** The headers of an event in binary mode of the NATS binding, where values are percent-encoded. */
export function toHeaders(event: StreamEvent): [name: string, value: string][] {
  const { id, source, type, subject, timeMs, traceparent } = event;
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    subject,
    time: new Date(timeMs).toISOString(),
    datacontenttype: payloadType,
    ...(traceparent && { traceparent }),
  };
  return Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encode(value)]);
}

/** The event of a message. `get` returns a header or an empty string. */
export function fromHeaders(get: (name: string) => string, data: Uint8Array): StreamEvent {
  const attribute = (name: string) => decode(get(`ce-${name}`));
  return {
    id: attribute('id'),
    source: attribute('source'),
    type: attribute('type'),
    subject: attribute('subject'),
    timeMs: Date.parse(attribute('time')),
    data,
    traceparent: attribute('traceparent') || undefined,
  };
}

/** Encodes white space, quotes, `%` and everything that is not printable ASCII. */
function encode(value: string): string {
  return value
    .toWellFormed()
    .replace(/[^\x21\x23\x24\x26-\x7e]/gu, (character) =>
      [...Buffer.from(character)]
        .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
        .join(''),
    );
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
