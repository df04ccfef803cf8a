import { SignedCookie } from '@octavo/core/auth';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageRoutes, pathOf, routes } from '../routes.ts';

/** Remembers in the visitor's browser which choices they voted for. */
export class VoteCookie {
  readonly #cookie: SignedCookie;

  /** @param secret signs the cookie */
  constructor(secret: string) {
    this.#cookie = new SignedCookie({ name: 'polls_vote', secret, maxAgeSeconds: 365 * 86_400 });
  }

  /** Returns the choices that the visitor voted for; empty without a valid vote cookie. */
  rememberedChoices(request: FastifyRequest, question: number): readonly number[] {
    const [of, choices = ''] = (this.#cookie.read(request) ?? '').split('.');
    return Number(of) === question ? choices.split('-').map(Number) : [];
  }

  /** The cookie is limited to this poll's paths, on the pages and in the API, so requests stay small. */
  remember(reply: FastifyReply, question: number, choices: readonly number[]): void {
    const paths = [pageRoutes.poll, routes.question].map((route) => pathOf(route, question));
    this.#cookie.write(reply, `${question}.${choices.join('-')}`, paths);
  }
}
