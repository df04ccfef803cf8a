import { isoTime, type Static, Type } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import {
  type Classification,
  type GetPostSentimentResponse,
  type PostServiceDefinition,
  SentimentLabel,
} from '@octavo/protocols/posts/v1/posts';
import type { CallOptions, Client } from '@octavo/rpc';

export const SentimentRequest = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: postLimits.text, format: 'text' }),
  },
  { title: 'SentimentRequest', examples: [{ text: 'The ferries are late again, and nobody says why.' }] },
);

export const sentimentLabels = ['positive', 'negative', 'neutral'] as const;
export type SentimentName = (typeof sentimentLabels)[number];

const classified = {
  label: Type.Enum(sentimentLabels),
  probabilities: Type.Object({ positive: Type.Number(), negative: Type.Number(), neutral: Type.Number() }),
};
const example = {
  label: 'negative' as const,
  probabilities: { positive: 0.05, negative: 0.8, neutral: 0.15 },
};

export const SentimentResponse = Type.Object(classified, { title: 'SentimentResponse', examples: [example] });
export type SentimentResponse = Static<typeof SentimentResponse>;

/** Classification of a post, its time and its model. */
export const PostSentiment = Type.Object(
  { ...classified, model: Type.String(), classifiedAt: Type.String({ format: 'date-time' }) },
  {
    title: 'PostSentiment',
    examples: [{ ...example, model: 'octavo-1', classifiedAt: '2026-01-31T08:15:02.000Z' }],
  },
);
export type PostSentiment = Static<typeof PostSentiment>;

/** Longest time for classifying a text. */
export const classifyTimeoutMs = 2_000;

/** The classification of a text in the API's shape. */
export function toSentiment(classification: Classification | undefined): SentimentResponse {
  const label = classification && labels[classification.label];
  if (!label) throw new Error('the posts service sent no classification');
  const { positive, negative, neutral } = classification;
  return { label, probabilities: { positive, negative, neutral } };
}

/** The classification of a post in the API's shape. */
export function toPostSentiment({ classification, classifiedAtMs }: GetPostSentimentResponse): PostSentiment {
  const model = classification?.model ?? '';
  return { ...toSentiment(classification), model, classifiedAt: isoTime(classifiedAtMs) };
}

/** The last classification of posts, by id; empty if the posts service cannot tell. */
export async function sentimentsOf(
  posts: Client<PostServiceDefinition>,
  ids: number[],
  call: CallOptions,
): Promise<ReadonlyMap<number, SentimentName>> {
  if (ids.length === 0) return new Map();
  const found = await posts
    .getSentimentLabels({ ids }, { ...call, timeoutMs: labelsTimeoutMs })
    .catch(() => undefined);
  const named = [...(found?.labels ?? [])].map(([id, label]) => [id, labels[label]] as const);
  return new Map(named.filter((entry): entry is [number, SentimentName] => entry[1] !== undefined));
}

/** A list does not wait longer for its column of sentiments. */
const labelsTimeoutMs = 1_000;

/** A label as the posts service takes it. */
export function toWireLabel(name: SentimentName): SentimentLabel {
  return wireLabels[name];
}

const wireLabels: Readonly<Record<SentimentName, SentimentLabel>> = {
  positive: SentimentLabel.SENTIMENT_LABEL_POSITIVE,
  negative: SentimentLabel.SENTIMENT_LABEL_NEGATIVE,
  neutral: SentimentLabel.SENTIMENT_LABEL_NEUTRAL,
};

const labels: Readonly<Record<number, SentimentName>> = {
  [SentimentLabel.SENTIMENT_LABEL_POSITIVE]: 'positive',
  [SentimentLabel.SENTIMENT_LABEL_NEGATIVE]: 'negative',
  [SentimentLabel.SENTIMENT_LABEL_NEUTRAL]: 'neutral',
};
