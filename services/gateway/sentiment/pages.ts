import { AppError, type Fields } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  card,
  empty,
  errorSummary,
  type Frame,
  field,
  type Html,
  html,
  layout,
  linkButton,
  notice,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { compileValidator } from '@octavo/web/validation';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { problemsInWords } from '../posts/index.ts';
import { pageRoutes } from '../routes.ts';
import type { Integrations } from '../status/index.ts';
import { sentimentChart } from './chart.ts';
import { classifyTimeoutMs, SentimentRequest, type SentimentResponse, toSentiment } from './sentiment.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly integrations: Integrations;
}

/** The form to try the classifier with. */
export function addSentimentPage(
  routes: PageRoutes<PageSession>,
  { visitors, posts, integrations }: Parts,
): void {
  const access = visitors('ml', 'write');
  const parseRequest = compileValidator(SentimentRequest);
  const whenEnabled = (show: (visitor: Visitor) => Promise<string>) => async (visitor: Visitor) => {
    if (await integrations.isEnabled('inferenceServer')) return show(visitor);
    visitor.visit.reply.code(503);
    return disabledPage(visitor.frame());
  };
  routes.get(
    pageRoutes.sentiment,
    { access },
    whenEnabled(async ({ frame }) => sentimentPage(frame(), { text: '' })),
  );
  routes.post(
    pageRoutes.sentiment,
    { access },
    whenEnabled(async (visitor) => {
      const text = visitor.visit.field('text');
      const { fields } = parseRequest({ text });
      if (!fields) return classify(visitor, text, posts);
      visitor.visit.reply.code(422);
      return sentimentPage(visitor.frame(), { text, errors: problemsInWords(fields) });
    }),
  );
}

async function classify({ visit, call, frame }: Visitor, text: string, posts: Parts['posts']) {
  try {
    const { classification } = await posts.classifyText({ text }, { ...call, timeoutMs: classifyTimeoutMs });
    return sentimentPage(frame(), { text, sentiment: toSentiment(classification) });
  } catch (error) {
    if (!(error instanceof AppError) || !['unavailable', 'timeout'].includes(error.code)) throw error;
    visit.reply.code(error.code === 'timeout' ? 504 : 503);
    const reason = error.code === 'timeout' ? 'The model took too long.' : error.message;
    return sentimentPage(frame(), { text, failure: { reason, requestId: visit.request.id } });
  }
}

interface SentimentView {
  readonly text: string;
  readonly errors?: Fields;
  readonly sentiment?: SentimentResponse;
  /** Reason why the text could not be classified, and the request id to quote. */
  readonly failure?: { readonly reason: string; readonly requestId: string };
}

function sentimentPage(frame: Frame, { text, errors = {}, sentiment, failure }: SentimentView): string {
  return layout(frame, {
    title: 'Sentiment',
    styles: ['charts.css'],
    lead: 'Try the model that classifies posts. Text that you enter here is not stored.',
    main: html`${failure && failureNotice(failure)}${errorSummary(errors, { text: 'Text' }, 'Nothing was classified yet')}
<div class="beside"><form class="form" method="post" action="${pageRoutes.sentiment}">${frame.csrfField}
${field({
  name: 'text',
  label: 'Text',
  type: 'textarea',
  value: text,
  error: errors.text,
  help: 'The model works best with English.',
  countMax: postLimits.text,
  attributes: { rows: 8, autofocus: sentiment === undefined },
})}
<div class="actions"><button>Classify</button></div></form>
${card('Result', sentiment ? sentimentChart(sentiment) : html`<p class="muted">Classify a text to see its sentiment.</p>`)}</div>`,
  });
}

function disabledPage(frame: Frame): string {
  return layout(frame, {
    title: 'Sentiment',
    main: empty({
      icon: 'smile',
      title: 'Sentiment is turned off',
      text: 'An operator can turn it on with the setting INFERENCE of the posts service.',
      actions: linkButton(pageRoutes.posts, 'Go to posts'),
    }),
  });
}

function failureNotice({ reason, requestId }: { reason: string; requestId: string }): Html {
  return notice(
    'bad',
    html`${reason} Your text is below: try again in a moment.<br><small>Request <code>${requestId}</code></small>`,
    { title: 'The text could not be classified' },
  );
}
