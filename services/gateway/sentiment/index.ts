export { sentimentChart } from './chart.ts';
export {
  type PostSentiment,
  type SentimentName,
  sentimentLabels,
  sentimentsOf,
  toPostSentiment,
  toWireLabel,
} from './sentiment.ts';
