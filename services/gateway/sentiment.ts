import { type Static, Type } from '#kit/schema.ts';
import { type Classification, type GetPostSentimentResponse, SentimentLabel } from '#proto/posts/v1/posts.ts';
import { isoTime } from './iso-time.ts';
import { bodyCharacters } from './post.ts';

export const SentimentRequest = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: bodyCharacters, format: 'text' }) },
  { examples: [{ text: 'The ferries are late again, and nobody says why.' }] },
);

const classified = {
  label: Type.Enum(['positive', 'negative', 'neutral']),
  probabilities: Type.Object({ positive: Type.Number(), negative: Type.Number(), neutral: Type.Number() }),
};
const example = {
  label: 'negative' as const,
  probabilities: { positive: 0.05, negative: 0.8, neutral: 0.15 },
};

export const SentimentResponse = Type.Object(classified, { examples: [example] });
export type SentimentResponse = Static<typeof SentimentResponse>;

/** How a post was classified, when and by which model. */
export const PostSentiment = Type.Object(
  { ...classified, model: Type.String(), classifiedAt: Type.String({ format: 'date-time' }) },
  { examples: [{ ...example, model: 'octavo-1', classifiedAt: '2026-01-31T08:15:02.000Z' }] },
);
export type PostSentiment = Static<typeof PostSentiment>;

/** How a post was classified, in the API's terms. */
export function toPostSentiment({ classification, classifiedAtMs }: GetPostSentimentResponse): PostSentiment {
  const model = classification?.model ?? '';
  return { ...toSentiment(classification), model, classifiedAt: isoTime(classifiedAtMs) };
}

/** A classification in the API's terms. */
export function toSentiment(classification: Classification | undefined): SentimentResponse {
  const label = classification && labels[classification.label];
  if (!label) throw new Error('the post backend answered without a classification');
  const { positive, negative, neutral } = classification;
  return { label, probabilities: { positive, negative, neutral } };
}

const labels: Readonly<Record<number, SentimentResponse['label']>> = {
  [SentimentLabel.SENTIMENT_LABEL_POSITIVE]: 'positive',
  [SentimentLabel.SENTIMENT_LABEL_NEGATIVE]: 'negative',
  [SentimentLabel.SENTIMENT_LABEL_NEUTRAL]: 'neutral',
};
