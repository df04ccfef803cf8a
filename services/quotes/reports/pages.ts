import { AppError, type Fields } from '@octavo/core';
import type { Database } from '@octavo/data';
import { choiceGroup, errorSummary, field, html, site } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findQuote, maySee, type Quote, quoteFigure } from '../quotes/index.ts';
import { pageRoutes, quotePath, signInPath } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import { noteMax, reasonLabels, reasons } from './report.ts';
import { reportQuote } from './store.ts';

export interface ReportPagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

export function addReportPages(routes: PageRoutes<PageSession>, parts: ReportPagesParts): void {
  const { visitors: access } = parts;
  routes.get(pageRoutes.report, { access }, (visitor) => show(visitor, parts));
  routes.post(pageRoutes.report, { access, proof: 'origin' }, (visitor) => send(visitor, parts));
}

async function show(visitor: Visitor, { database }: ReportPagesParts): Promise<FastifyReply | string> {
  const { visit, reader } = visitor;
  if (!reader) return visit.redirect(signInPath(visit.request.url));
  const quote = await quoteOf(visitor, database);
  return formPage(visitor, quote, { typed: { reason: '', note: '' }, errors: {} });
}

async function send(visitor: Visitor, parts: ReportPagesParts): Promise<FastifyReply | string> {
  const { visit, reader, clock } = visitor;
  const { database, limitWrites } = parts;
  if (!reader) return visit.redirect(signInPath(visit.request.url));
  visitor.checkToken();
  const quote = await quoteOf(visitor, database);
  const typed = { reason: visit.field('reason'), note: visit.field('note').trim() };
  const reason = reasons.find((each) => each === typed.reason);
  const errors = {
    ...(!reason && { reason: 'Choose a reason.' }),
    ...([...typed.note].length > noteMax && { note: `must be at most ${noteMax} characters` }),
    ...((typed.note.includes('\0') || !typed.note.isWellFormed()) && {
      note: 'has characters that are not allowed',
    }),
  };
  if (!reason || Object.keys(errors).length > 0) {
    visit.reply.code(400);
    return formPage(visitor, quote, { typed, errors });
  }
  limitWrites(visit.request, visit.reply);
  const key = { quoteId: quote.id, userId: reader.id };
  await reportQuote(database, { ...key, reason, note: typed.note, nowMs: clock.now() });
  const text = 'Thank you. The staff will look at it.';
  return visit.redirect(quotePath(pageRoutes.quote, quote.id), { tone: 'good', text });
}

async function quoteOf({ visit, reader }: Visitor, database: Database<Tables>): Promise<Quote> {
  const { id = '' } = visit.request.params as { id?: string };
  const quote = /^\d{1,15}$/.test(id) ? await findQuote(database, Number(id)) : undefined;
  if (!quote || !maySee(quote, reader)) throw new AppError('not_found', 'There is no quote at this address.');
  return quote;
}

function formPage(
  visitor: Visitor,
  quote: Quote,
  { typed, errors }: { typed: { reason: string; note: string }; errors: Fields },
): string {
  const frame = visitor.frame();
  const path = quotePath(pageRoutes.quote, quote.id);
  return site(frame, {
    title: 'Report a quote',
    main: html`<h1 class="title">Report a quote</h1>${errorSummary(errors, { reason: 'Reason', note: 'Note' }, 'Nothing has been sent yet')}
${quoteFigure(quote, { isLink: true })}
<section><form class="form" method="post" action="${quotePath(pageRoutes.report, quote.id)}">${frame.csrfField}
${choiceGroup({
  name: 'reason',
  legend: 'What is wrong with it?',
  choices: reasons.map((reason) => ({ value: reason, label: reasonLabels[reason] })),
  selected: [typed.reason],
  error: errors.reason,
})}
${field({ name: 'note', label: 'Note (optional)', type: 'textarea', value: typed.note, error: errors.note, countMax: noteMax, attributes: { rows: 2 } })}
<div class="actions"><button>Send report</button><a class="button quiet" href="${path}">Cancel</a></div></form></section>`,
  });
}
