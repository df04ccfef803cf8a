import { type AppError, notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import { serializer } from '@octavo/drf';
import { text } from '@octavo/drf/dialect';
import { html, site } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findCountedQuote, findQuote, maySee, quoteFigure } from '../quotes/index.ts';
import { pageRoutes, quotePath, signInPath } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { commentTextMax, deletable } from './comment.ts';
import { addComment, deleteComment, findComment } from './store.ts';
import { commentForm, newCommentPath } from './views.ts';

export interface CommentPagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

const body = serializer({ text: text({ maxLength: commentTextMax }) });

export function addCommentPages(routes: PageRoutes<PageSession>, parts: CommentPagesParts): void {
  const { visitors } = parts;
  const post = { access: visitors, proof: 'origin' } as const;
  routes.post(pageRoutes.comments, post, (visitor) => comment(visitor, parts));
  routes.post(pageRoutes.deleteComment, post, (visitor) => remove(visitor, parts));
}

async function comment(visitor: Visitor, parts: CommentPagesParts): Promise<FastifyReply | string> {
  const { visit, reader, clock } = visitor;
  const { database, limitWrites } = parts;
  const quoteId = numberIn(visit.request, 'id');
  const path = quotePath(pageRoutes.quote, quoteId);
  if (!reader) return visit.redirect(signInPath(`${path}#comments`));
  visitor.checkToken();
  const quote = await findCountedQuote(database, quoteId);
  if (!quote || !maySee(quote, reader)) throw notFound('quote', quoteId);
  const typed = visit.field('text');
  const problem = await problemOf(typed);
  if (problem) {
    visit.reply.code(400);
    const frame = visitor.frame();
    const draft = { text: typed, error: problem };
    return site(frame, {
      title: 'Your comment',
      main: html`<h1 class="title">Your comment</h1>${quoteFigure(quote, { isLink: true })}
<section>${commentForm({ quote: { id: quoteId }, csrfField: frame.csrfField, draft })}</section>`,
    });
  }
  limitWrites(visit.request, visit.reply);
  const { text: clean } = await body.parse({ text: typed });
  const id = await addComment(database, { quoteId, userId: reader.id, text: clean, nowMs: clock.now() });
  return visit.redirect(newCommentPath(quote, id));
}

async function problemOf(text: string): Promise<string | undefined> {
  try {
    await body.parse({ text });
    return undefined;
  } catch (error) {
    const { details } = error as AppError & { details?: { text?: string[] } };
    if (details === undefined) throw error;
    return details.text?.join(' ');
  }
}

async function remove(visitor: Visitor, { database, limitWrites }: CommentPagesParts): Promise<FastifyReply> {
  const { visit, reader } = visitor;
  const [quoteId, id] = [numberIn(visit.request, 'id'), numberIn(visit.request, 'commentId')];
  const path = `${quotePath(pageRoutes.quote, quoteId)}#comments`;
  if (!reader) return visit.redirect(signInPath(path));
  visitor.checkToken();
  limitWrites(visit.request, visit.reply);
  const quote = await findQuote(database, quoteId);
  if (!quote || !maySee(quote, reader)) throw notFound('quote', quoteId);
  const found = await findComment(database, { quoteId, id });
  await deleteComment(database, deletable(found, { id, reader }).id);
  return visit.redirect(path, { tone: 'good', text: 'The comment is deleted.' });
}

function numberIn({ params }: FastifyRequest, name: string): number {
  const text = (params as Readonly<Record<string, string>>)[name] ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
