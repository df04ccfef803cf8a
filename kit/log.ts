import pino from 'pino';

/** A structured logger: `log.info({ postId }, 'post created')`. */
export type Log = pino.Logger;

/** The levels of pino; `silent` logs nothing. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

const redactedKeys = ['authorization', 'cookie', 'set-cookie', 'password', 'token', 'code', 'secret'];

/**
 * Logs one JSON object per line to standard error, with the time in ISO 8601 UTC.
 * Values of keys that hold secrets are redacted, at the top level and one level below.
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
        censor: '[redacted]',
      },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** A logger that logs nothing, for tests. */
export const silentLog: Log = pino({ level: 'silent' });
