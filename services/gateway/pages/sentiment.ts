import { AppError } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import { pageRoutes } from '../page-routes.ts';
import { SentimentRequest } from '../sentiment.ts';
import { sentimentOffPage, sentimentPage } from '../views/sentiment.ts';
import { inWords } from './draft.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { ForReaders, Reader } from './reader.ts';

type Parts = Pick<PageParts, 'posts' | 'integrations'>;

export function addSentimentPage(routes: PageRoutes<Ticket>, forReaders: ForReaders, parts: Parts): void {
  const isOff = !parts.integrations.inferenceServer;
  const showOff = async ({ visit, frame }: Reader) => {
    visit.reply.code(503);
    return sentimentOffPage(frame());
  };
  const showForm = async ({ frame }: Reader) => sentimentPage(frame(), { text: '' });
  routes.get(pageRoutes.sentiment, forReaders('ml', 'write', isOff ? showOff : showForm));
  routes.post(pageRoutes.sentiment, forReaders('ml', 'write', isOff ? showOff : classify(parts)));
}

function classify({ posts }: Parts) {
  const readRequest = compileValidator(SentimentRequest);
  return async ({ visit, call, frame }: Reader) => {
    const text = visit.field('text');
    const reading = readRequest({ text });
    if (reading.fields) {
      visit.reply.code(422);
      return sentimentPage(frame(), { text, errors: inWords(reading.fields) });
    }
    try {
      return sentimentPage(frame(), { text, sentiment: await posts.classify(text, call) });
    } catch (error) {
      if (!(error instanceof AppError) || !['unavailable', 'timeout'].includes(error.code)) throw error;
      visit.reply.code(error.code === 'timeout' ? 504 : 503);
      const reason = error.code === 'timeout' ? 'The model took too long.' : error.message;
      return sentimentPage(frame(), { text, failure: { reason, requestId: visit.request.id } });
    }
  };
}
