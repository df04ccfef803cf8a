import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageAnswer } from '#kit/html/pages.ts';
import type { TokenPair } from '../session.ts';
import { landingPage } from '../views/entry.ts';
import type { PageParts } from './parts.ts';
import { frameOf } from './reader.ts';

/** The page that a magic link leads to in a browser. The address holds the token, so it is told to nobody. */
export function showLanding(answer: PageAnswer<TokenPair>, parts: PageParts) {
  return (request: FastifyRequest, reply: FastifyReply, token: string): Promise<FastifyReply> =>
    answer(request, reply, async (visit) => {
      reply.header('referrer-policy', 'no-referrer');
      return landingPage(frameOf(visit, parts), token);
    });
}
