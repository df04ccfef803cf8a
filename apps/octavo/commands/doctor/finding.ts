import type { Clock, Environment } from '@octavo/core';
import { describeSystemError, toAppError } from '@octavo/core';
import type { readSuite } from '../../index.ts';

/** The result of one check: a confirmation, or a problem with the command or setting that fixes it. */
export interface Finding {
  readonly subject: string;
  readonly text: string;
  /** Present if something is wrong. */
  readonly fix?: string;
}

/** The place that is examined. */
export interface Examined {
  readonly names: readonly string[];
  readonly environment: Environment;
  readonly suite: ReturnType<typeof readSuite>;
  /** Folder with the `.env` file. */
  readonly folder: string;
  readonly clock: Clock;
}

export function fine(subject: string, text: string): Finding {
  return { subject, text };
}

export function wrong(subject: string, text: string, fix: string): Finding {
  return { subject, text, fix };
}

/** Runs a check that throws where something is wrong, in words for people. */
export async function examine(
  subject: string,
  fix: string,
  check: () => Promise<string> | string,
): Promise<Finding> {
  try {
    return fine(subject, await check());
  } catch (error) {
    return wrong(subject, textOf(error), fix);
  }
}

/** The message of an error; that of its cause where the message is for strangers. */
export function textOf(error: unknown): string {
  const known = describeSystemError(error) ?? toAppError(error);
  return known.code === 'internal' ? ((known.cause as Error)?.message ?? known.message) : known.message;
}
