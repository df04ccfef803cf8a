import { AppError } from '@octavo/core';
import type { RpcContext } from '@octavo/rpc';

/** A client waiting for a write. If it was told that the write failed, the write must not commit. */
export type Caller = Pick<RpcContext, 'signal' | 'deadlineMs'>;

/** Callers as a thread sees them: this can be cloned, and shares the memory that says who is gone. */
export interface Callers {
  readonly deadlinesMs: readonly (number | undefined)[];
  /** 1 for each that no longer waits. */
  readonly gone: Uint8Array<SharedArrayBuffer>;
}

/** The commit and the way back to the caller take this long. */
const marginMs = 50;

/** Returns true if a caller no longer waits, or not long enough. A process that was frozen has not fired its timers yet. */
export function isLate({ signal, deadlineMs }: Caller): boolean {
  return signal.aborted || isPast(deadlineMs);
}

/** Throws if the caller no longer waits: the last step of a transaction, so that it is rolled back. */
export function throwIfLate(caller: Caller): void {
  if (isLate(caller)) throw lateError();
}

/** Returns true if one of several callers no longer waits. */
export function isAnyLate({ deadlinesMs, gone }: Callers): boolean {
  return gone.includes(1) || deadlinesMs.some(isPast);
}

export function lateError(): AppError {
  return new AppError('timeout', 'the backend did not answer in time');
}

/** Follows callers until it is disposed. */
export class AbortFlags implements Disposable {
  readonly callers: Callers;
  readonly #stop = new AbortController();

  constructor(callers: readonly Caller[]) {
    const gone = new Uint8Array(new SharedArrayBuffer(callers.length));
    this.callers = { deadlinesMs: callers.map(({ deadlineMs }) => deadlineMs), gone };
    for (const [index, { signal }] of callers.entries()) {
      const leave = () => {
        gone[index] = 1;
      };
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true, signal: this.#stop.signal });
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}

function isPast(deadlineMs: number | undefined): boolean {
  return deadlineMs !== undefined && Date.now() > deadlineMs - marginMs;
}
