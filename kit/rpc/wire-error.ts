import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { AppError, type ErrorCode } from '../errors.ts';
import { type ConnectCode, codeOfStatus, connectCodes, errorCodes } from './codes.ts';

/** A Connect error as JSON: the body of a failed unary call, and `error` at the end of a stream. */
export interface WireError {
  readonly code: ConnectCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** One entry of `details` in a Connect error: a protobuf message in base64 without padding, and its JSON for people. */
export interface ErrorDetail {
  readonly type: string;
  readonly value: string;
  readonly debug?: unknown;
}

/** An error as a client received it. */
export interface ReceivedError {
  readonly error: AppError;
  /** The server says that it did nothing, so that any call may be tried at another. */
  readonly isUndone: boolean;
}

/**
 * An error as it is sent; {@link fromWire} returns the same error. The details are those of google/rpc/error_details.proto:
 * ErrorInfo with the code, the reason and whether nothing was done, BadRequest with the fields, RetryInfo with the delay.
 */
export function toWire(error: AppError, options: { isUndone?: boolean; code?: ConnectCode } = {}): WireError {
  const { isUndone = false, code = connectCodes[error.code] } = options;
  const details = [errorInfoOf(error, isUndone)];
  if (Object.keys(error.fields).length > 0) details.push(badRequestOf(error.fields));
  if (Number.isFinite(error.retryAfterSeconds)) details.push(retryInfoOf(error.retryAfterSeconds as number));
  return { code, message: error.message, details };
}

/**
 * The error of a response. `body` is its parsed JSON, whatever that is: our own error with all its parts, that of another
 * Connect server by its code, that of an overloaded HTTP server, or else what the status stands for.
 * `retryAfter` is the header of that name.
 */
export function fromWire(body: unknown, status: number, retryAfter?: string): ReceivedError {
  const { code, message, details, error: httpError } = (body ?? {}) as Record<string, unknown>;
  const isKnown = typeof code === 'string' && Object.hasOwn(errorCodes, code);
  const connectCode = isKnown ? (code as ConnectCode) : codeOfStatus(status);
  const overload = status === 503 ? textOf((httpError as WireError | undefined)?.message) : undefined;
  const text = textOf(message) ?? overload ?? `the RPC server answered ${connectCode}`;
  const { isUndone = overload !== undefined, code: ownCode, ...found } = readDetails(details);
  const retryAfterSeconds =
    found.retryAfterSeconds ?? (/^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined);
  const error = new AppError(ownCode ?? errorCodes[connectCode], text, { ...found, retryAfterSeconds });
  return { error, isUndone };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const domain = 'octavo';

function errorInfoOf({ reason, code }: AppError, isUndone: boolean): ErrorDetail {
  const metadata: Record<string, string> = isUndone ? { code, refused: 'true' } : { code };
  const writer = new BinaryWriter();
  if (reason !== undefined) writer.tag(1, WireType.LengthDelimited).string(reason);
  writer.tag(2, WireType.LengthDelimited).string(domain);
  writePairs(writer, 3, metadata);
  return detailOf('google.rpc.ErrorInfo', writer, { reason, domain, metadata });
}

function badRequestOf(fields: AppError['fields']): ErrorDetail {
  const writer = writePairs(new BinaryWriter(), 1, fields);
  const fieldViolations = Object.entries(fields).map(([field, description]) => ({ field, description }));
  return detailOf('google.rpc.BadRequest', writer, { fieldViolations });
}

function retryInfoOf(seconds: number): ErrorDetail {
  const whole = Math.floor(seconds);
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(whole);
  writer.tag(2, WireType.Varint).int32(Math.round((seconds - whole) * 1e9));
  return detailOf('google.rpc.RetryInfo', writer.join(), { retryDelay: `${seconds}s` });
}

/** Writes a repeated field of messages whose fields 1 and 2 are texts, as map entries and field violations are. */
function writePairs(
  writer: BinaryWriter,
  field: number,
  pairs: Readonly<Record<string, string>>,
): BinaryWriter {
  for (const [first, second] of Object.entries(pairs)) {
    writer.tag(field, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(first).tag(2, WireType.LengthDelimited).string(second);
    writer.join();
  }
  return writer;
}

function detailOf(type: string, writer: BinaryWriter, debug: unknown): ErrorDetail {
  return { type, value: Buffer.from(writer.finish()).toString('base64').replace(/=+$/, ''), debug };
}

interface FoundDetails {
  code?: ErrorCode;
  reason?: string;
  isUndone?: boolean;
  fields?: Record<string, string>;
  retryAfterSeconds?: number;
}

/** What the details say; those that are malformed or of other types are left out. */
function readDetails(details: unknown): FoundDetails {
  const result: FoundDetails = {};
  if (!Array.isArray(details)) return result;
  try {
    for (const detail of details) {
      const { type, value } = (detail ?? {}) as Partial<ErrorDetail>;
      if (typeof type !== 'string' || typeof value !== 'string') continue;
      Object.assign(result, detailReaders.get(type)?.(readFields(Buffer.from(value, 'base64'))));
    }
    return result;
  } catch {
    return {};
  }
}

/** The fields of a message in their order: integers as numbers, texts and messages as bytes. */
type WireFields = [field: number, value: number | Uint8Array][];

const detailReaders: ReadonlyMap<string, (fields: WireFields) => FoundDetails> = new Map([
  ['google.rpc.ErrorInfo', readErrorInfo],
  ['google.rpc.BadRequest', readBadRequest],
  ['google.rpc.RetryInfo', readRetryInfo],
]);

function readErrorInfo(fields: WireFields): FoundDetails {
  const result: FoundDetails = {};
  let isOurs = false;
  for (const [field, value] of fields) {
    if (field === 1) result.reason = stringOf(value);
    if (field === 2) isOurs = stringOf(value) === domain;
    if (field !== 3) continue;
    const [key, text] = readPair(value);
    if (key === 'code' && Object.hasOwn(connectCodes, text)) result.code = text as ErrorCode;
    if (key === 'refused') result.isUndone = text === 'true';
  }
  return isOurs ? result : {};
}

function readBadRequest(fields: WireFields): FoundDetails {
  const pairs = fields.filter(([field]) => field === 1).map(([, value]) => readPair(value));
  return { fields: Object.fromEntries(pairs) };
}

function readRetryInfo(fields: WireFields): FoundDetails {
  const delay = new Map(readFields(fields.find(([field]) => field === 1)?.[1]));
  return { retryAfterSeconds: Number(delay.get(1) ?? 0) + Number(delay.get(2) ?? 0) / 1e9 };
}

function readFields(bytes: number | Uint8Array | undefined): WireFields {
  const fields: WireFields = [];
  const reader = new BinaryReader(bytes instanceof Uint8Array ? bytes : new Uint8Array(0));
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType === WireType.Varint) fields.push([field, Number(reader.int64())]);
    else if (wireType === WireType.LengthDelimited) fields.push([field, reader.bytes()]);
    else reader.skip(wireType);
  }
  return fields;
}

function readPair(bytes: number | Uint8Array): [string, string] {
  const texts = new Map(readFields(bytes).map(([field, value]) => [field, stringOf(value)]));
  return [texts.get(1) ?? '', texts.get(2) ?? ''];
}

function stringOf(value: number | Uint8Array): string {
  return typeof value === 'number' ? '' : Buffer.from(value).toString();
}
