import pino from 'pino';

/** A structured logger: `log.info({ postId }, 'post created')`. */
export type Log = pino.Logger;

/** The levels of pino; `silent` logs nothing. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

const redactedKeys = ['authorization', 'cookie', 'set-cookie', 'password', 'token', 'code', 'secret'];

/**
 * Logs one JSON object per line to standard error, with the time in ISO 8601 UTC.
 * Values of keys that hold secrets are redacted, at the top level and one level below. The code of an error is none.
 */
export function createLog(options: {
  service: string;
  level?: LogLevel;
  destination?: pino.DestinationStream;
}): Log {
  return pino(
    {
      level: options.level ?? 'info',
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.errWithCause },
      redact: {
        paths: redactedKeys.flatMap((key) => [`["${key}"]`, `*["${key}"]`]),
        censor: (value, path) =>
          path.length > 1 && path.at(-1) === 'code' && isErrorCode(value) ? value : '[redacted]',
      },
    },
    options.destination ?? standardError(),
  );
}

/** The destination of logs on standard error. Nothing is lost if the process ends. */
export function standardError(): pino.DestinationStream {
  return pino.destination({ dest: 2, sync: true });
}

/**
 * Returns true if a `code` is that of an error, below `err`: `ECONNREFUSED`, `ERR_STREAM_DESTROYED`, `not_found`, or the five
 * characters of an SQLSTATE. No code that people type has such a form.
 */
function isErrorCode(value: unknown): boolean {
  return (
    typeof value === 'string' && /^(E[A-Z\d]{3,}|[A-Z]+(_[A-Z\d]+)+|[a-z]+(_[a-z]+)*|[A-Z\d]{5})$/.test(value)
  );
}

/** A logger that logs nothing, for tests. */
export const silentLog: Log = pino({ level: 'silent' });
