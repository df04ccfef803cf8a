import { printable } from './output.ts';

/** Reason for an exit code other than 0. */
export type Reason = 'refused' | 'usage' | 'signed_out' | 'unreachable';

const statuses: Readonly<Record<Reason, number>> = { refused: 1, usage: 2, signed_out: 3, unreachable: 4 };

/** A failure with a message for the user of the command. */
export class Failure extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The exit status of an error: 1 refused, 2 usage, 3 not signed in, 4 not reachable. */
export function exitStatus(error: unknown): number {
  return statuses[reasonOf(error)];
}

/** One or more lines that say what went wrong. */
export function report(error: unknown): string {
  if (error instanceof Failure || isUsageError(error)) return linesOf((error as Error).message);
  if (isFileError(error)) return error.message;
  if (isLostConnection(error)) return 'The connection was lost before the response was complete.';
  return (error as Error)?.stack ?? String(error);
}

/** Messages may hold texts of others. */
function linesOf(message: string): string {
  return message.split('\n').map(printable).join('\n');
}

function reasonOf(error: unknown): Reason {
  if (error instanceof Failure) return error.reason;
  if (isLostConnection(error)) return 'unreachable';
  return isUsageError(error) ? 'usage' : 'refused';
}

function isUsageError(error: unknown): boolean {
  return error instanceof TypeError && String(Reflect.get(error, 'code')).startsWith('ERR_PARSE_ARGS');
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** Returns true for the error of `fetch` when the connection is lost while a body is read. */
function isLostConnection(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'terminated';
}
