import { postLimits } from '@octavo/protocols/posts/v1/limits';
import { codePointsOf, encodingProblem, refuse } from '../posts/index.ts';
import type { Label } from './model/labels.ts';

/** Classification of a text. */
export interface Classification {
  readonly label: Label;
  /** Probabilities with a sum of 1; `label` has the greatest. */
  readonly probabilities: Readonly<Record<Label, number>>;
}

/** Classifies texts off the event loop: by the shipped model in a thread, or by an inference server. */
export interface Classifier extends AsyncDisposable {
  /** The name of the model, as it is stored with a post's sentiment. */
  readonly model: string;
  /**
   * In the order of the texts, however many; concurrent calls take turns. Throws `unavailable` if the model does not
   * answer, `timeout` if it takes too long, and the signal's reason once that aborts.
   */
  classify(texts: readonly string[], signal?: AbortSignal): Promise<Classification[]>;
  /** Throws if it cannot classify now. */
  ping(signal: AbortSignal): Promise<void>;
}

/** Refuses a text that is not to be classified. */
export function checkText(text: string): void {
  const problem = text === '' ? 'must not be empty' : lengthProblem(text);
  if (problem) refuse({ text: problem });
}

function lengthProblem(text: string): string | undefined {
  if (codePointsOf(text) > postLimits.text) return `must be at most ${postLimits.text} characters`;
  return encodingProblem(text);
}
