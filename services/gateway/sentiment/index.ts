export { sentimentChart } from './chart.ts';
export {
  type PostSentiment,
  type SentimentName,
  sentimentLabels,
  toPostSentiment,
  toWireLabel,
} from './sentiment.ts';
