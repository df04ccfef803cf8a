import {
  badge,
  type Content,
  card,
  choiceGroup,
  empty,
  errorPage,
  type Frame,
  facts,
  field,
  formatNumber,
  type Html,
  html,
  layout,
  linkButton,
  notice,
  pager,
  type Sharing,
  table,
  time,
} from '@octavo/web/html';
import { keepActions } from '@octavo/web/pages';
import type { HttpError } from '@octavo/web/server';
import type { PageVisit, PollView } from './pages-poll.ts';
import {
  duplicatesWords,
  isClosedAt,
  labelOf,
  type Poll,
  pageSize,
  type Question,
  resultsWords,
  stateFor,
  takesSeveral,
  toCounts,
} from './poll.ts';
import { pageRoutes, pathOf } from './routes.ts';

export interface ListView {
  readonly items: readonly Poll[];
  readonly total: number;
  readonly page: number;
  readonly now: string;
}

/** Frame of pages without a sign-in, where a vote needs no form token: only a poll that counts sessions starts one. */
export function frameOf(visit: PageVisit, question?: Question): Frame {
  const shared = question?.duplicates === 'session' ? visit.frame() : visit.publicFrame();
  return {
    ...shared,
    service: 'Polls',
    navigation: [
      { href: pageRoutes.polls, label: 'Polls', icon: 'chart' },
      { href: pageRoutes.newPoll, label: 'New poll', icon: 'plus' },
      // Strangers have no polls of their own, and would meet a sign-in.
      ...(shared.isSignedIn ? [{ href: pageRoutes.mine, label: 'My polls', icon: 'edit' } as const] : []),
      { href: '/docs', label: 'API', icon: 'list' },
    ],
    flash: visit.hasFlash && visit.takeFlash(),
  };
}

export function listPage(visit: PageVisit, { items, total, page, now }: ListView): string {
  const href = (number: number) => (number === 1 ? pageRoutes.polls : `${pageRoutes.polls}?page=${number}`);
  return layout(frameOf(visit), {
    title: 'Polls',
    lead: 'Vote, then see the results.',
    actions: linkButton(pageRoutes.newPoll, 'New poll'),
    sharing: {
      description: 'Vote, then see the results.',
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
    text: 'Published polls appear here. Anyone with an account can make one.',
    actions: linkButton(pageRoutes.newPoll, 'New poll', 'primary'),
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
      { header: 'State', kind: 'plain', cell: ({ question }) => stateBadge(isClosedAt(question, now)) },
      { header: 'Votes', kind: 'count', cell: (poll) => publicTotal(poll, now) ?? 'hidden' },
      { header: 'Published', kind: 'plain', cell: ({ question }) => time(question.pub_date) },
    ],
  });
}

/** The votes, if everybody may see them. */
function publicTotal({ question, choices }: Poll, now: string): string | undefined {
  const { showsResults } = stateFor(question, { hasVoted: false, now });
  return showsResults ? formatNumber(toCounts(question, choices).total) : undefined;
}

function stateBadge(isClosed: boolean): Html {
  return isClosed ? badge('plain', 'closed') : badge('good', 'open');
}

/** The form to vote with. `manageAddress` is shown to a stranger who has just made the poll. */
export function pollPage(visit: PageVisit, view: PollView, manageAddress?: string): string {
  const { question, choices, state, chosen, picked, problem } = view;
  const isSeveral = takesSeveral(question);
  const frame = frameOf(visit, question);
  const isDone = chosen.length > 0 && question.duplicates !== 'none';
  const isOpen = !state.isClosed && !isDone && choices.length > 0;
  const form = html`<form class="stack" method="post" action="${pathOf(pageRoutes.vote, question.id)}">${frame.csrfField}
${choiceGroup({
  name: 'choice',
  legend: html`<span class="hidden">${question.question_text}</span>`,
  choices: choices.map(({ id, choice_text }) => ({ value: id, label: choice_text })),
  selected: isSeveral ? (picked ?? chosen) : chosen.slice(0, 1),
  isMultiple: isSeveral,
  help: isSeveral && isOpen ? pickHelp(question.max_choices, choices.length) : undefined,
  error: problem,
  disabled: !isOpen,
})}
<div class="actions">${isOpen && html`<button>Vote</button>`}${state.showsResults && linkButton(pathOf(pageRoutes.results, question.id), 'See the results', isOpen ? 'quiet' : 'primary')}</div></form>`;
  return layout(frame, {
    ...headOf(view),
    main: beside(
      visit,
      view,
      html`${manageAddress && keepAddress(manageAddress)}${stateNotice(view)}${choices.length === 0 ? noChoices() : form}`,
    ),
  });
}

function pickHelp(most: number, choices: number): string {
  return most < choices ? `Choose up to ${most}.` : 'Choose one or more.';
}

export function headOf({ question, choices }: PollView) {
  const sharing: Sharing = {
    description:
      choices
        .map(({ choice_text }) => choice_text)
        .join(' · ')
        .slice(0, 300) || 'A poll',
    path: pathOf(pageRoutes.poll, question.id),
    image: pathOf(pageRoutes.card, question.id),
  };
  const parent = { href: pageRoutes.polls, label: 'Polls' };
  return {
    title: question.question_text,
    parent,
    sharing,
    styles: ['choices.css', 'charts.css'],
    modules: ['keep.js'],
  };
}

/** Content with facts about the poll and the box to share it in the sidebar. */
export function beside(visit: PageVisit, { question, choices, state }: PollView, main: Content): Html {
  const { closes_at, results, duplicates } = question;
  const { isClosed, showsResults } = state;
  const entries: (readonly [string, Content])[] = [
    ['State', stateBadge(isClosed)],
    [labelOf('pub_date'), time(question.pub_date)],
    ...(closes_at === null ? [] : [[isClosed ? 'Closed' : labelOf('closes_at'), time(closes_at)] as const]),
    [labelOf('duplicates'), duplicatesWords[duplicates]],
    ...(takesSeveral(question) ? [[labelOf('max_choices'), `Up to ${question.max_choices}`] as const] : []),
    ['Results', resultsWords[results]],
  ];
  if (showsResults) {
    const label = takesSeveral(question) ? 'Voters' : 'Votes';
    const { total } = toCounts(question, choices);
    entries.push([label, html`<span data-total>${formatNumber(total)}</span>`]);
  }
  return html`<div class="beside"><div class="stack">${main}</div><aside class="stack">${card('About this poll', facts(entries))}${shareBox(visit, question)}</aside></div>`;
}

/** The address of the poll as a link, as a QR code, and as a frame for other sites. */
export function shareBox({ origin }: Pick<PageVisit, 'origin'>, { id, question_text }: Question): Html {
  const link = `${origin}${pathOf(pageRoutes.poll, id)}`;
  const embed = html`<iframe src="${origin}${pathOf(pageRoutes.embed, id)}" title="${question_text}" width="100%" height="420" loading="lazy"></iframe>`;
  const readonly = { readonly: true };
  return card(
    'Share',
    html`<div class="stack">${field({ name: 'share-link', label: 'Link', value: link, attributes: readonly })}
${copyButton(link, 'Copy link')}
<details><summary>QR code</summary><img src="${pathOf(pageRoutes.qrCode, id)}" width="220" height="220" alt="QR code with the address of this poll" loading="lazy"></details>
<details><summary>Embed on a website</summary><div class="stack">${field({
      name: 'share-embed',
      label: 'HTML',
      type: 'textarea',
      value: embed.toString(),
      help: 'Shows the question and its results, with a link to vote here.',
      attributes: { ...readonly, rows: 5 },
    })}
${copyButton(embed.toString(), 'Copy HTML')}</div></details>
${linkButton(pathOf(pageRoutes.screen, id), 'Show on a big screen', 'quiet')}</div>`,
  );
}

function copyButton(text: string, label: string): Html {
  return html`<div class="actions" data-keep="${text}" hidden><button type="button" class="secondary" data-copy-text>${label}</button>
<span class="muted" role="status"></span></div>`;
}

function keepAddress(address: string): Html {
  const content = html`<p>Save this address. You need it to close, hide or delete the poll, and it is not shown again.</p>
<p><a href="${address}">${address}</a></p>${keepActions({ text: address, what: 'the address' })}`;
  return notice('warn', content, { title: 'Your link to manage this poll' });
}

function stateNotice({ state, chosen, problem }: PollView): Content {
  if (state.isClosed) return problem ? undefined : notice('info', 'This poll is closed.');
  return chosen.length === 0 || problem ? undefined : notice('good', 'You have voted on this poll.');
}

function noChoices(): Html {
  return empty({
    icon: 'inbox',
    title: 'No choices yet',
    text: 'This poll takes votes once it has choices.',
  });
}

export function pollErrorPage(visit: PageVisit, error: HttpError): string {
  const home = { href: pageRoutes.polls, label: 'See all polls' };
  return errorPage(frameOf(visit), error, { requestId: visit.request.id, home, hasNavigation: true });
}
