import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { MessageCodec } from './contract.ts';

/**
 * Writes messages of one type, one after another, each behind the same header. They share a buffer to grow in, which
 * costs less than growing a new one for each.
 */
export function createWriter(
  codec: MessageCodec,
  header = new Uint8Array(0),
): (message: unknown) => Uint8Array {
  let writer = new BinaryWriter();
  return (message) => {
    try {
      const bytes = codec.encode(message, writer.raw(header)).finish();
      if (bytes.length > keptBytesMax) writer = new BinaryWriter();
      return bytes;
    } catch (error) {
      writer = new BinaryWriter();
      throw error;
    }
  };
}

const keptBytesMax = 1024 * 1024;
