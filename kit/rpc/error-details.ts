import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { AppError, ErrorCode } from '../errors.ts';
import { connectCodes } from './codes.ts';

/** One entry of `details` in a Connect error: a protobuf message, base64 without padding, and the same for people. */
export interface ErrorDetail {
  readonly type: string;
  readonly value: string;
  readonly debug?: unknown;
}

/**
 * What the Connect code cannot say, in the messages that gRPC clients know (google/rpc/error_details.proto):
 * ErrorInfo with the code, the reason and whether nothing was done, BadRequest with the fields, RetryInfo with the delay.
 */
export function writeDetails(error: AppError, isRefusal: boolean): ErrorDetail[] {
  const details = [writeErrorInfo(error, isRefusal)];
  if (Object.keys(error.fields).length > 0) details.push(writeBadRequest(error.fields));
  if (Number.isFinite(error.retryAfterSeconds))
    details.push(writeRetryInfo(error.retryAfterSeconds as number));
  return details;
}

interface FoundDetails {
  code?: ErrorCode;
  reason?: string;
  isRefusal?: boolean;
  fields?: Record<string, string>;
  retryAfterSeconds?: number;
}

/** What {@link writeDetails} wrote; parts that are absent or of other types are left out. Throws on malformed bytes. */
export function readDetails(details: readonly unknown[]): FoundDetails {
  const result: FoundDetails = {};
  for (const detail of details) {
    const { type, value } = (detail ?? {}) as Partial<ErrorDetail>;
    if (typeof type !== 'string' || typeof value !== 'string') continue;
    const bytes = Buffer.from(value, 'base64');
    if (type === 'google.rpc.ErrorInfo') Object.assign(result, readErrorInfo(bytes));
    if (type === 'google.rpc.BadRequest') result.fields = readBadRequest(bytes);
    if (type === 'google.rpc.RetryInfo') result.retryAfterSeconds = readRetryInfo(bytes);
  }
  return result;
}

const domain = 'octavo';

function writeErrorInfo(error: AppError, isRefusal: boolean): ErrorDetail {
  const { reason, code } = error;
  const metadata: Record<string, string> = isRefusal ? { code, refused: 'true' } : { code };
  const writer = new BinaryWriter();
  if (reason !== undefined) writer.tag(1, WireType.LengthDelimited).string(reason);
  writer.tag(2, WireType.LengthDelimited).string(domain);
  for (const [key, value] of Object.entries(metadata)) {
    writer.tag(3, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).string(value);
    writer.join();
  }
  return detail('google.rpc.ErrorInfo', writer, { reason, domain, metadata });
}

function writeBadRequest(fields: AppError['fields']): ErrorDetail {
  const writer = new BinaryWriter();
  const fieldViolations = Object.entries(fields).map(([field, description]) => ({ field, description }));
  for (const { field, description } of fieldViolations) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer
      .tag(1, WireType.LengthDelimited)
      .string(field)
      .tag(2, WireType.LengthDelimited)
      .string(description);
    writer.join();
  }
  return detail('google.rpc.BadRequest', writer, { fieldViolations });
}

function writeRetryInfo(seconds: number): ErrorDetail {
  const whole = Math.floor(seconds);
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(whole);
  writer.tag(2, WireType.Varint).int32(Math.round((seconds - whole) * 1e9));
  writer.join();
  return detail('google.rpc.RetryInfo', writer, { retryDelay: `${seconds}s` });
}

function detail(type: string, writer: BinaryWriter, debug: unknown): ErrorDetail {
  return { type, value: Buffer.from(writer.finish()).toString('base64').replace(/=+$/, ''), debug };
}

function readErrorInfo(bytes: Uint8Array): FoundDetails {
  const result: FoundDetails = {};
  let isOurs = false;
  eachField(bytes, {
    1: (reader) => {
      result.reason = reader.string();
    },
    2: (reader) => {
      isOurs = reader.string() === domain;
    },
    3: (reader) => {
      const [key, value] = readTwoStrings(reader.bytes());
      if (key === 'code' && Object.hasOwn(connectCodes, value)) result.code = value as ErrorCode;
      if (key === 'refused') result.isRefusal = value === 'true';
    },
  });
  return isOurs ? result : {};
}

function readBadRequest(bytes: Uint8Array): Record<string, string> {
  const fields: [string, string][] = [];
  eachField(bytes, {
    1: (reader) => {
      fields.push(readTwoStrings(reader.bytes()));
    },
  });
  return Object.fromEntries(fields);
}

function readRetryInfo(bytes: Uint8Array): number {
  let seconds = 0;
  eachField(bytes, {
    1: (reader) => {
      eachField(reader.bytes(), {
        1: (delay) => {
          seconds += Number(delay.int64());
        },
        2: (delay) => {
          seconds += delay.int32() / 1e9;
        },
      });
    },
  });
  return seconds;
}

function readTwoStrings(bytes: Uint8Array): [string, string] {
  const result: [string, string] = ['', ''];
  eachField(bytes, {
    1: (reader) => {
      result[0] = reader.string();
    },
    2: (reader) => {
      result[1] = reader.string();
    },
  });
  return result;
}

function eachField(bytes: Uint8Array, readers: Record<number, (reader: BinaryReader) => void>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const read = readers[field];
    if (read) read(reader);
    else reader.skip(wireType);
  }
}
