import { AppError } from '@octavo/core';

/** Calls `onPassed` after `timeoutMs`; never if that is longer than Node's timers can wait (24.8 days). */
export function startDeadline(
  timeoutMs: number | undefined,
  onPassed: () => void,
): NodeJS.Timeout | undefined {
  if (timeoutMs === undefined || timeoutMs > timerMsMax) return undefined;
  return setTimeout(onPassed, Math.max(0, timeoutMs));
}

/** The error of a call whose deadline passed. */
export function timedOut(method: string, timeoutMs: number): AppError {
  return timeout(`${method} did not respond within ${timeoutMs} ms`);
}

/** The error of a stream in which one side left the other waiting. */
export function streamTimedOut(
  method: string,
  what: 'sent nothing' | 'was not read',
  timeoutMs: number,
): AppError {
  return timeout(`the stream of ${method} ${what} for ${timeoutMs} ms`);
}

/** The error of a call that its caller canceled. */
export function canceled(method: string): AppError {
  return new AppError('canceled', `${method} was canceled`);
}

const timerMsMax = 2 ** 31 - 1;

/** The name of the method is for the log only. */
function timeout(detail: string): AppError {
  return new AppError('timeout', 'the backend did not answer in time', { cause: new Error(detail) });
}
