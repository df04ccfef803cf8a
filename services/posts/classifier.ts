import type { Label } from './sentiment/labels.ts';

/** How a text was classified. */
export interface Classification {
  readonly label: Label;
  /** They sum to 1; `label` is the greatest. */
  readonly probabilities: Readonly<Record<Label, number>>;
}

/** Says how texts feel, off the event loop: by the shipped model on a thread, or by an inference server. */
export interface Classifier extends AsyncDisposable {
  /** Which model it is, as it is kept beside a post's sentiment. */
  readonly model: string;
  /**
   * In the order of the texts, however many; calls at the same time take turns. Throws `unavailable` where the model does not
   * answer, `timeout` where it takes too long, and the signal's reason once that aborts.
   */
  classify(texts: readonly string[], signal?: AbortSignal): Promise<Classification[]>;
  /** Throws where it would not classify now. */
  ping(signal: AbortSignal): Promise<void>;
}
