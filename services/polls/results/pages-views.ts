import {
  attributes,
  badge,
  bare,
  type Content,
  count,
  empty,
  formatNumber,
  type Html,
  html,
  layout,
  linkButton,
  notice,
  shareChart,
  time,
  viewLinks,
} from '@octavo/web/html';
import type { PageVisit, PollView } from '../pages-poll.ts';
import { beside, frameOf, headOf } from '../pages-views.ts';
import { type Choice, isRight, type Poll, type Question, takesSeveral, toCounts } from '../poll.ts';
import { pageRoutes, pathOf } from '../routes.ts';

/** Order of the choices: as the poll asks them, or with the most votes first. */
export type Order = 'asked' | 'votes';

/** Counts and percentages, and for those who may know it, which choice was right. */
export function resultsPage(visit: PageVisit, view: PollView, order: Order): string {
  const { question, state } = view;
  const path = pathOf(pageRoutes.results, question.id);
  const voteLabel = question.duplicates === 'none' ? 'Vote again' : 'Back to the poll';
  return layout(frameOf(visit), {
    ...headOf(view),
    title: `Results: ${question.question_text}`,
    modules: ['keep.js', 'results.js'],
    actions: html`${linkButton(pathOf(pageRoutes.screen, question.id), 'Show on a big screen', 'quiet')}
${linkButton(pathOf(pageRoutes.votesOverTime, question.id), 'Votes over time', 'quiet')}
${linkButton(pathOf(pageRoutes.resultsFile, question.id), 'Download CSV')}`,
    main: beside(
      visit,
      view,
      html`${answerNotice(view)}<section class="card" data-results="${streamOf(view)}"><h2>${state.isClosed ? 'Final results' : 'Results so far'} <span class="badge good" data-live hidden>live</span></h2>
${takesSeveral(question) && html`<p class="muted">${votersOf(view)}</p>`}${viewLinks('Order', [
  { label: 'As asked', href: path, isCurrent: order === 'asked' },
  { label: 'Most votes first', href: `${path}?sort=votes`, isCurrent: order === 'votes' },
])}${resultChart(view, { order })}${told}</section>
${!state.isClosed && html`<p class="actions">${linkButton(pathOf(pageRoutes.poll, question.id), voteLabel)}</p>`}`,
    ),
  });
}

/** The question and its results for a projector, with the address to vote at. */
export function screenPage(visit: PageVisit, given: PollView): string {
  const view = shownToAll(given);
  const { question, state } = view;
  const link = `${visit.origin}${pathOf(pageRoutes.poll, question.id)}`;
  const voting = html`<aside><img src="${pathOf(pageRoutes.qrCode, question.id)}" width="220" height="220" alt="QR code with the address of this poll">
<p>Vote at<br><b>${link.replace(/^https?:\/\//, '')}</b></p></aside>`;
  return bare(frameOf(visit), {
    ...headOf(view),
    styles: ['choices.css', 'charts.css', 'polls.css'],
    modules: ['results.js', 'screen.js'],
    main: html`<div class="screen"><h1>${question.question_text}</h1>
<div class="${state.isClosed ? 'whole' : 'parts'}">${countsOf(view, { order: 'votes', isBare: true })}${!state.isClosed && voting}</div>
<p class="actions">${linkButton(pathOf(pageRoutes.results, question.id), 'Back to the results', 'quiet')}
<button type="button" class="quiet" data-fullscreen hidden>Full screen</button></p></div>`,
  });
}

/** The question and its results inside a page of another site. Votes are cast on our own page only. */
export function embedPage(visit: PageVisit, given: PollView): string {
  const view = shownToAll(given);
  const { question, state } = view;
  const label = state.isClosed ? 'Open the poll' : 'Vote on this poll';
  return bare(frameOf(visit), {
    ...headOf(view),
    styles: ['choices.css', 'charts.css', 'polls.css'],
    modules: ['results.js'],
    main: html`<div class="embed stack"><h1>${question.question_text}</h1>${countsOf(view, { order: 'asked' })}
<p class="actions"><a class="button primary" href="${visit.origin}${pathOf(pageRoutes.poll, question.id)}" target="_blank" rel="noopener">${label}</a></p></div>`,
  });
}

/** The view without what only its visitor may know: many people look at the same screen. */
function shownToAll({ state, ...view }: PollView): PollView {
  return { ...view, chosen: [], state: { ...state, showsCorrect: state.isClosed } };
}

function countsOf(view: PollView, look: ChartLook): Html {
  const { question, choices, state } = view;
  if (!state.showsResults) {
    const names = html`<ul>${choices.map(({ choice_text }) => html`<li>${choice_text}</li>`)}</ul>`;
    return html`<section>${names}<p class="muted">The results are hidden. ${whenShown(question)}</p></section>`;
  }
  const { total } = toCounts(question, choices);
  const turnout = takesSeveral(question)
    ? votersOf(view)
    : html`Votes: <b data-total>${formatNumber(total)}</b>`;
  return html`<section data-results="${streamOf(view)}">${resultChart(view, look)}
<p class="muted">${turnout} ${state.isClosed && badge('plain', 'closed')} <span class="badge good" data-live hidden>live</span></p>${told}</section>`;
}

/** Place in which `results.js` tells screen readers of new votes. */
const told = html`<p class="hidden" role="status" data-told></p>`;

/** Number of people who voted, which the percentages refer to. */
function votersOf({ question, choices }: Poll): Html {
  const { total } = toCounts(question, choices);
  return html`<span data-voters>${count(total, 'voter')}</span>, several answers possible`;
}

/** The address of the live counts; empty for a closed poll. */
function streamOf({ question, state }: PollView): string {
  return state.isClosed ? '' : pathOf(pageRoutes.stream, question.id);
}

interface ChartLook {
  readonly order: Order;
  /** True without the table of numbers. */
  readonly isBare?: boolean;
}

/** By votes, the choices in the lead are marked; `results.js` keeps order and marks. */
function resultChart(view: PollView, { order, isBare = false }: ChartLook): Html {
  const { question, choices, state } = view;
  const { choices: counts } = toCounts(question, choices);
  const most = Math.max(...choices.map(({ votes }) => votes), 1);
  const shares = choices.map((choice, index) => ({
    key: choice.id,
    label: choice.choice_text,
    marks: html`${marksOf(choice, view)}${order === 'votes' && leads(choice.votes === most)}`,
    value: choice.votes,
    text: count(choice.votes, 'vote'),
    percent: counts[index]?.percent ?? 0,
    isMarked: state.showsCorrect && choice.is_correct === 1,
  }));
  const shareHead = takesSeveral(question) ? 'Share of voters' : 'Share';
  if (order === 'votes') shares.sort((one, other) => other.value - one.value);
  const heads = ['Choice', 'Votes', shareHead] as const;
  return html`<div${attributes({ 'data-sorted': order === 'votes' })}>${shareChart({ caption: 'Votes by choice', heads, shares, isBare })}</div>`;
}

function leads(isLeading: boolean): Html {
  return html` <span class="badge plain" data-leads${attributes({ hidden: !isLeading })}>most votes</span>`;
}

function answerNotice({ choices, state, chosen }: PollView): Content {
  const correct = choices.find((choice) => choice.is_correct === 1);
  const picked = choices.filter(({ id }) => chosen.includes(id));
  if (!state.showsCorrect || !correct) return state.isClosed && notice('info', 'This poll is closed.');
  if (picked.length === 0) return notice('info', html`The correct answer is <b>${correct.choice_text}</b>.`);
  const names = html`<b>${picked.map(({ choice_text }) => choice_text).join(', ')}</b>`;
  if (isRight(choices, chosen))
    return notice('good', html`You picked ${names}.`, {
      title: 'Your answer is correct',
    });
  return notice('warn', html`You picked ${names}. The correct answer is <b>${correct.choice_text}</b>.`, {
    title: 'Your answer is not correct',
  });
}

function marksOf({ id, is_correct }: Choice, { state, chosen }: PollView): Content {
  const isCorrect = state.showsCorrect && is_correct === 1;
  return html`${isCorrect && badge('good', 'correct')} ${chosen.includes(id) && badge('plain', 'your vote')}`;
}

export function hiddenResultsPage(visit: PageVisit, view: PollView): string {
  const { question, chosen } = view;
  return layout(frameOf(visit), {
    ...headOf(view),
    title: `Results: ${question.question_text}`,
    main: beside(
      visit,
      view,
      empty({
        icon: 'lock',
        title: 'The results are hidden',
        text: html`${chosen.length > 0 && 'Your vote was counted. '}${whenShown(question)}`,
        actions: linkButton(
          pathOf(pageRoutes.poll, question.id),
          chosen.length === 0 ? 'Go to the vote' : 'Back to the poll',
          'primary',
        ),
      }),
    ),
  });
}

function whenShown({ results, closes_at }: Question): Content {
  return results === 'after_close'
    ? html`They show when the poll closes${closes_at && html`, ${time(closes_at)}`}.`
    : 'Vote to see them.';
}
