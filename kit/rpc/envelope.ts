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

/**
 * Cuts the bytes of a stream into its envelopes, however they arrive. They are kept in one buffer, which serves again and again: as many
 * small ones would wait for a collection long after they were read.
 */
export class EnvelopeReader {
  readonly #payloadBytesMax: number;
  #buffer: Buffer = Buffer.alloc(0);
  /** Where in it the bytes are of which no envelope was made yet. */
  #start = 0;
  #end = 0;

  constructor(payloadBytesMax: number) {
    this.#payloadBytesMax = payloadBytesMax;
  }

  /** Bytes pushed that no envelope was made of yet. */
  get heldBytes(): number {
    return this.#end - this.#start;
  }

  /** Whether the next envelope is there. Throws `too_large`, or `invalid_input` for flags that are not supported. */
  get isReady(): boolean {
    return this.heldBytes >= this.#nextBytes();
  }

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeRoom(this.heldBytes + chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The next envelope, whose payload holds until the next push; `undefined` until it is whole. Throws as {@link isReady} does. */
  next(): Envelope | undefined {
    const bytes = this.#nextBytes();
    if (this.heldBytes < bytes) return undefined;
    const start = this.#start;
    this.#start += bytes;
    const payload = this.#buffer.subarray(start + envelopeHeaderBytes, this.#start);
    return { flags: this.#buffer[start] as number, payload };
  }

  /** The size of the next envelope, or of its header where even that is not there. */
  #nextBytes(): number {
    if (this.heldBytes < envelopeHeaderBytes) return envelopeHeaderBytes;
    const flags = this.#buffer[this.#start] as number;
    const payloadBytes = this.#buffer.readUInt32BE(this.#start + 1);
    if ((flags & ~endOfStream) !== 0) {
      throw new AppError('invalid_input', `a stream envelope has unsupported flags ${flags}`);
    }
    if (payloadBytes > this.#payloadBytesMax) throw messageTooLarge(this.#payloadBytesMax);
    return envelopeHeaderBytes + payloadBytes;
  }

  /** Moves what is held to the start, of a larger buffer where that would leave less than half of it for what comes. */
  #makeRoom(bytes: number): void {
    const isLarge = 2 * bytes <= this.#buffer.length;
    const buffer = isLarge ? this.#buffer : Buffer.allocUnsafeSlow(2 * bytes);
    this.#buffer.copy(buffer, 0, this.#start, this.#end);
    this.#buffer = buffer;
    this.#end -= this.#start;
    this.#start = 0;
  }
}

/** The error of a message over the limit. */
export function messageTooLarge(bytesMax: number): AppError {
  return new AppError('too_large', `an RPC message is larger than ${bytesMax} bytes`);
}
