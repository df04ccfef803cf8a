import { SentimentLabel, type Classification as WireClassification } from '#proto/posts/v1/posts.ts';
import type { Classification } from './classifier.ts';

/** A classification as it goes over the wire, with the model that says so. */
export function toWire({ label, probabilities }: Classification, model: string): WireClassification {
  const { negative, neutral, positive } = probabilities;
  return { label: wireLabels[label], negative, neutral, positive, model };
}

const wireLabels = {
  negative: SentimentLabel.SENTIMENT_LABEL_NEGATIVE,
  neutral: SentimentLabel.SENTIMENT_LABEL_NEUTRAL,
  positive: SentimentLabel.SENTIMENT_LABEL_POSITIVE,
};
