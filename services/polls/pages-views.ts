import type { AccountSession } from '#kit/admin/index.ts';
import { badge, card, empty, facts, linkButton, notice } from '#kit/html/blocks.ts';
import { shareChart } from '#kit/html/charts.ts';
import { errorPage } from '#kit/html/error-page.ts';
import { radioGroup } from '#kit/html/form.ts';
import { count, formatNumber, time } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, layout, type Sharing } from '#kit/html/layout.ts';
import { pager } from '#kit/html/pager.ts';
import { table } from '#kit/html/table.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import {
  type Choice,
  duplicatesWords,
  isClosedAt,
  type Poll,
  pageSize,
  type Question,
  resultsWords,
  type Standing,
  standingOf,
  toCounts,
} from './poll.ts';
import { pageRoutes, pathOf } from './routes.ts';

/** A visit of the pages; staff may be signed in. */
export type PageVisit = Visit<AccountSession>;

/** A poll as one visitor sees it. */
export interface PollView extends Poll {
  readonly standing: Standing;
  /** The choice that the visitor voted for. */
  readonly chosen: number | undefined;
  /** Why a vote was not counted. */
  readonly problem?: string;
}

export interface ListView {
  readonly items: readonly Poll[];
  readonly total: number;
  readonly page: number;
  readonly now: string;
}

/** Nobody signs in to these pages, and a vote needs no form token: only a poll that counts sessions starts one. */
function frameOf(visit: PageVisit, question?: Question): Frame {
  return {
    ...(question?.duplicates === 'session' ? visit.frame() : visit.publicFrame()),
    service: 'Polls',
    navigation: [
      { href: pageRoutes.polls, label: 'Polls', icon: 'chart' },
      { href: '/docs', label: 'API', icon: 'list' },
      { href: '/admin/', label: 'Admin', icon: 'lock' },
    ],
    flash: visit.hasFlash && visit.takeFlash(),
  };
}

export function listPage(visit: PageVisit, { items, total, page, now }: ListView): string {
  const href = (number: number) => (number === 1 ? pageRoutes.polls : `${pageRoutes.polls}?page=${number}`);
  return layout(frameOf(visit), {
    title: 'Polls',
    lead: 'Pick an answer, then see how everybody else voted.',
    sharing: {
      description: 'Pick an answer, then see how everybody else voted.',
      path: href(page),
    },
    main:
      items.length === 0
        ? noPolls()
        : html`${pollTable(items, now)}${pager({ page, pageSize, total, href })}`,
  });
}

function noPolls(): Html {
  return empty({
    icon: 'chart',
    title: 'No polls yet',
    text: 'Questions show up here when they are published. Staff add them in the admin or through the API.',
    actions: linkButton('/admin/', 'Open the admin'),
  });
}

function pollTable(polls: readonly Poll[], now: string): Html {
  return table<Poll>({
    caption: 'Polls, newest first',
    rows: polls,
    columns: [
      {
        header: 'Question',
        kind: 'main',
        cell: ({
          question,
          choices,
        }) => html`<a href="${pathOf(pageRoutes.poll, question.id)}">${question.question_text}</a>
<div>${choices.map(({ choice_text }) => choice_text).join(' · ')}</div>`,
      },
      { header: 'State', kind: 'fit', cell: ({ question }) => stateBadge(isClosedAt(question, now)) },
      { header: 'Votes', kind: 'number', cell: (poll) => publicTotal(poll, now) ?? 'hidden' },
      { header: 'Published', kind: 'fit', cell: ({ question }) => time(question.pub_date) },
    ],
  });
}

/** The votes, if everybody may see them. */
function publicTotal({ question, choices }: Poll, now: string): string | undefined {
  const { showsResults } = standingOf(question, { hasVoted: false, now });
  return showsResults ? formatNumber(toCounts(choices).total) : undefined;
}

function stateBadge(isClosed: boolean): Html {
  return isClosed ? badge('plain', 'closed') : badge('good', 'open');
}

/** The form to vote with. */
export function pollPage(visit: PageVisit, view: PollView): string {
  const { question, choices, standing, chosen, problem } = view;
  const frame = frameOf(visit, question);
  const isOpen = !standing.isClosed && choices.length > 0;
  const form = html`<form class="stack" method="post" action="${pathOf(pageRoutes.vote, question.id)}">${frame.csrfField}
${radioGroup({
  name: 'choice',
  legend: html`<span class="hidden">${question.question_text}</span>`,
  choices: choices.map(({ id, choice_text }) => ({ value: id, label: choice_text })),
  selected: chosen,
  error: problem,
  disabled: !isOpen,
})}
<div class="actions">${isOpen && html`<button>Vote</button>`}${standing.showsResults && linkButton(pathOf(pageRoutes.results, question.id), 'See the results', isOpen ? 'quiet' : 'primary')}</div></form>`;
  return layout(frame, {
    ...headOf(view),
    main: beside(view, html`${stateNotice(view)}${choices.length === 0 ? noChoices() : form}`),
  });
}

function headOf({ question, choices }: PollView) {
  const sharing: Sharing = {
    description:
      choices
        .map(({ choice_text }) => choice_text)
        .join(' · ')
        .slice(0, 300) || 'A poll',
    path: pathOf(pageRoutes.poll, question.id),
    imagePath: pathOf(pageRoutes.card, question.id),
  };
  const parent = { href: pageRoutes.polls, label: 'Polls' };
  return { title: question.question_text, parent, sharing, styles: ['choices.css', 'charts.css'] };
}

/** What there is to know about a poll, beside its main part. */
function beside({ question, choices, standing }: PollView, main: Content): Html {
  const { closes_at, results, duplicates } = question;
  const { isClosed, showsResults } = standing;
  const entries: [string, Content][] = [
    ['State', stateBadge(isClosed)],
    ['Published', time(question.pub_date)],
    ['You may vote', duplicatesWords[duplicates]],
    ['Results', resultsWords[results]],
  ];
  if (closes_at !== null) entries.splice(2, 0, [isClosed ? 'Closed' : 'Closes', time(closes_at)]);
  if (showsResults)
    entries.push(['Votes', html`<span data-total>${formatNumber(toCounts(choices).total)}</span>`]);
  return html`<div class="beside"><div class="stack">${main}</div><aside>${card('About this poll', facts(entries))}</aside></div>`;
}

function stateNotice({ standing, chosen, problem }: PollView): Content {
  if (standing.isClosed) return problem ? undefined : notice('info', 'This poll is closed.');
  return chosen === undefined || problem ? undefined : notice('good', 'You have voted on this poll.');
}

function noChoices(): Html {
  return empty({
    icon: 'inbox',
    title: 'No choices yet',
    text: 'Nobody can vote until this poll has choices.',
  });
}

/** Counts and percentages, and for those who may know it, which choice was right. */
export function resultsPage(visit: PageVisit, view: PollView): string {
  const { question, choices, standing } = view;
  const { choices: counts } = toCounts(choices);
  const stream = standing.isClosed ? '' : pathOf(pageRoutes.stream, question.id);
  const shares = choices.map((choice, index) => ({
    key: choice.id,
    label: choice.choice_text,
    marks: marksOf(choice, view),
    value: choice.votes,
    text: count(choice.votes, 'vote'),
    percent: counts[index]?.percent ?? 0,
    isMarked: standing.showsCorrect && choice.is_correct === 1,
  }));
  return layout(frameOf(visit), {
    ...headOf(view),
    title: `Results: ${question.question_text}`,
    modules: ['results.js'],
    main: beside(
      view,
      html`${answerNotice(view)}<section class="card" data-results="${stream}"><h2>${standing.isClosed ? 'Final results' : 'Results so far'} <span class="badge good" data-live hidden>live</span></h2>
${shareChart({ caption: 'Votes by choice', heads: ['Choice', 'Votes', 'Share'], shares })}</section>
${!standing.isClosed && html`<p class="actions">${linkButton(pathOf(pageRoutes.poll, question.id), question.duplicates === 'none' ? 'Vote again' : 'Back to the poll')}</p>`}`,
    ),
  });
}

function answerNotice({ choices, standing, chosen }: PollView): Content {
  const correct = choices.find((choice) => choice.is_correct === 1);
  const picked = choices.find(({ id }) => id === chosen);
  if (!standing.showsCorrect || !correct) return standing.isClosed && notice('info', 'This poll is closed.');
  if (!picked) return notice('info', html`The correct answer is <b>${correct.choice_text}</b>.`);
  if (picked === correct)
    return notice('good', html`You picked <b>${picked.choice_text}</b>.`, {
      title: 'Your answer is correct',
    });
  return notice(
    'warn',
    html`You picked <b>${picked.choice_text}</b>. The correct answer is <b>${correct.choice_text}</b>.`,
    {
      title: 'Your answer is not correct',
    },
  );
}

function marksOf({ id, is_correct }: Choice, { standing, chosen }: PollView): Content {
  const isCorrect = standing.showsCorrect && is_correct === 1;
  return html`${isCorrect && badge('good', 'correct')} ${id === chosen && badge('plain', 'your vote')}`;
}

export function hiddenResultsPage(visit: PageVisit, view: PollView): string {
  const { question, chosen } = view;
  const isUntilClose = question.results === 'after_close';
  const when = isUntilClose
    ? html`They show when the poll closes${question.closes_at && html`, ${time(question.closes_at)}`}.`
    : 'Vote to see them.';
  return layout(frameOf(visit), {
    ...headOf(view),
    title: `Results: ${question.question_text}`,
    main: beside(
      view,
      empty({
        icon: 'lock',
        title: 'The results are hidden',
        text: html`${chosen !== undefined && 'Your vote was counted. '}${when}`,
        actions: linkButton(
          pathOf(pageRoutes.poll, question.id),
          chosen === undefined ? 'Go to the vote' : 'Back to the poll',
          'primary',
        ),
      }),
    ),
  });
}

export function pollErrorPage(visit: PageVisit, error: HttpError): string {
  const home = { href: pageRoutes.polls, label: 'See all polls' };
  return errorPage(frameOf(visit), error, { requestId: visit.request.id, home });
}
