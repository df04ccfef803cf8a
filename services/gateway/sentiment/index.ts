export { sentimentChart } from './chart.ts';
export { type PostSentiment, toPostSentiment } from './sentiment.ts';
