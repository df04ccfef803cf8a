import { badge, barChart, formatNumber, type Html, html } from '@octavo/web/html';
import type { SentimentResponse } from './sentiment.ts';

/** The label, and the probability of each of the three. */
export function sentimentChart({ label, probabilities }: SentimentResponse): Html {
  return html`<p role="status">${badge(tones[label], label)}</p>
${barChart({
  caption: 'Probability of each sentiment',
  heads: ['Sentiment', 'Probability'],
  points: (['positive', 'neutral', 'negative'] as const).map((name) => ({
    label: names[name],
    value: probabilities[name],
    text: `${formatNumber(probabilities[name] * 100, 1)}%`,
  })),
})}`;
}

const tones = { positive: 'good', neutral: 'plain', negative: 'bad' } as const;
const names = { positive: 'Positive', neutral: 'Neutral', negative: 'Negative' };
