import { limits } from '@octavo/documents';

/** Elapsed time beside processor time: a process among many others on a busy machine takes so much longer. */
const patience = 4;
const mib = 1024 * 1024;

/** Time that a process may take for one document or picture. */
export interface AllowedTime {
  /** Time that it computes, which is the same on a busy machine. */
  readonly processorMs: number;
  /** Time until its reply, for a process that waits for something that never comes. */
  readonly elapsedMs: number;
}

/** Time that reading a file of this size may take. `most` is the longest processor time of any file. */
export function timeToParse(bytes: number, most: number = limits.parseMsMax): AllowedTime {
  const bySize = Math.max(limits.parseMsMin, (bytes / mib) * limits.parseMsPerMib);
  return allowedTime(Math.min(bySize, most));
}

export function allowedTime(processorMs: number): AllowedTime {
  return { processorMs, elapsedMs: processorMs * patience };
}

/** The limit in milliseconds that a process has exceeded, if any. */
export function exceeded(allowed: AllowedTime, taken: AllowedTime): number | undefined {
  if (taken.processorMs > allowed.processorMs) return allowed.processorMs;
  return taken.elapsedMs > allowed.elapsedMs ? allowed.elapsedMs : undefined;
}
