import type { Fields } from '#kit/errors.ts';
import { badge, card, empty, linkButton, notice } from '#kit/html/blocks.ts';
import { barChart } from '#kit/html/charts.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { formatNumber } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pageRoutes } from '../page-routes.ts';
import { bodyCharacters } from '../post.ts';
import type { SentimentResponse } from '../sentiment.ts';

export interface SentimentView {
  readonly text: string;
  readonly errors?: Fields;
  /** What was said of the text. */
  readonly sentiment?: SentimentResponse;
  /** Why nothing could be said of it, and the request to quote. */
  readonly failure?: { readonly reason: string; readonly requestId: string };
}

/** The box to try the classifier with. */
export function sentimentPage(
  frame: Frame,
  { text, errors = {}, sentiment, failure }: SentimentView,
): string {
  return layout(frame, {
    title: 'Sentiment',
    lead: 'Try the model that posts are classified with. What you type here is not kept.',
    main: html`${failure && failureNotice(failure)}${errorSummary(errors, { text: 'Text' }, 'Nothing was classified yet')}
<div class="beside"><form class="form" method="post" action="${pageRoutes.sentiment}">${frame.csrfField}
${field({
  name: 'text',
  label: 'Text',
  type: 'textarea',
  value: text,
  error: errors.text,
  help: 'English works best.',
  countMax: bodyCharacters,
  attributes: { rows: 8, autofocus: sentiment === undefined },
})}
<div class="actions"><button>Classify</button></div></form>
${card('Result', sentiment ? sentimentFigure(sentiment) : html`<p class="muted">Classify a text to see how it reads.</p>`)}</div>`,
  });
}

export function sentimentOffPage(frame: Frame): string {
  return layout(frame, {
    title: 'Sentiment',
    main: empty({
      icon: 'smile',
      title: 'Texts are not classified here',
      text: 'Sentiment is switched off (INFERENCE).',
      actions: linkButton(pageRoutes.posts, 'Go to posts'),
    }),
  });
}

/** The label, and how sure the model is of each of the three. */
export function sentimentFigure({ label, probabilities }: SentimentResponse): Html {
  return html`<p role="status">${badge(tones[label], label)}</p>
${barChart({
  caption: 'Probability of each sentiment',
  heads: ['Sentiment', 'Probability'],
  points: (['positive', 'neutral', 'negative'] as const).map((name) => ({
    label: names[name],
    value: probabilities[name],
    text: `${formatNumber(probabilities[name] * 100, 1)} %`,
  })),
})}`;
}

const tones = { positive: 'good', neutral: 'plain', negative: 'bad' } as const;
const names = { positive: 'Positive', neutral: 'Neutral', negative: 'Negative' };

function failureNotice({ reason, requestId }: { reason: string; requestId: string }): Html {
  return notice(
    'bad',
    html`${reason} Your text is below: try again in a moment.<br><small>Request <code>${requestId}</code></small>`,
    { title: 'The text could not be classified' },
  );
}
