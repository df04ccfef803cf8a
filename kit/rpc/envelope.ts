import { AppError } from '../errors.ts';
import type { MessageCodec } from './contract.ts';
import { createWriter } from './writer.ts';

/** The flag of the last envelope of a stream; its payload is JSON, `{}` or `{"error": …}`. */
export const endOfStream = 2;

/** Flags (1 byte) and length (4 bytes, big-endian) of an envelope. */
export const envelopeHeaderBytes = 5;

/** One envelope of a Connect stream. */
export interface Envelope {
  readonly flags: number;
  readonly payload: Buffer;
}

/** Bytes in an envelope. */
export function encloseBytes(flags: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(envelopeHeaderBytes + payload.length);
  bytes[0] = flags;
  bytes.writeUInt32BE(payload.length, 1);
  bytes.set(payload, envelopeHeaderBytes);
  return bytes;
}

/** Writes protobuf messages of one type, each in its envelope. */
export function createEncloser(codec: MessageCodec): (message: unknown) => Uint8Array {
  const write = createWriter(codec, new Uint8Array(envelopeHeaderBytes));
  return (message) => {
    const bytes = write(message);
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(1, bytes.length - envelopeHeaderBytes);
    return bytes;
  };
}

/** Cuts the bytes of a stream into its envelopes, however they arrive. */
export class EnvelopeReader {
  readonly #payloadBytesMax: number;
  #chunks: Buffer[] = [];
  #heldBytes = 0;

  constructor(payloadBytesMax: number) {
    this.#payloadBytesMax = payloadBytesMax;
  }

  /** Bytes pushed that no envelope was made of yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Whether the next envelope is there. Throws `too_large`, or `invalid_input` for flags that are not supported. */
  get isReady(): boolean {
    return this.#heldBytes >= this.#nextBytes();
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
  }

  /** The next envelope, or `undefined` until it is whole. Throws as {@link isReady} does. */
  next(): Envelope | undefined {
    const bytes = this.#nextBytes();
    if (this.#heldBytes < bytes) return undefined;
    const first = this.#firstChunk(bytes);
    if (first.length > bytes) this.#chunks[0] = first.subarray(bytes);
    else this.#chunks.shift();
    this.#heldBytes -= bytes;
    return { flags: first[0] as number, payload: first.subarray(envelopeHeaderBytes, bytes) };
  }

  /** The size of the next envelope, or of its header where even that is not there. */
  #nextBytes(): number {
    if (this.#heldBytes < envelopeHeaderBytes) return envelopeHeaderBytes;
    const header = this.#firstChunk(envelopeHeaderBytes);
    const flags = header[0] as number;
    const payloadBytes = header.readUInt32BE(1);
    if ((flags & ~endOfStream) !== 0) {
      throw new AppError('invalid_input', `a stream envelope has unsupported flags ${flags}`);
    }
    if (payloadBytes > this.#payloadBytesMax) throw messageTooLarge(this.#payloadBytesMax);
    return envelopeHeaderBytes + payloadBytes;
  }

  /** The first chunk, made to hold so many bytes. */
  #firstChunk(bytes: number): Buffer {
    const first = this.#chunks[0] as Buffer;
    if (first.length >= bytes) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

/** The error of a message over the limit. */
export function messageTooLarge(bytesMax: number): AppError {
  return new AppError('too_large', `an RPC message is larger than ${bytesMax} bytes`);
}
