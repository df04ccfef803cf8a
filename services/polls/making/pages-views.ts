import type { Fields } from '@octavo/core';
import { partsOf, type TSchema } from '@octavo/core';
import { accountRoutes } from '@octavo/people/accounts';
import {
  badge,
  type Content,
  card,
  confirm,
  count,
  empty,
  errorSummary,
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
  table,
  time,
} from '@octavo/web/html';
import { frameOf, shareBox } from '../pages-views.ts';
import { choicesMax, isClosedAt, type Poll, pageSize, textMax, toCounts, visibilityWords } from '../poll.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { draftFields, draftLabels, lineName, type Typed } from './draft.ts';
import { type Maker, signInPath } from './maker.ts';
import type { OwnPolls } from './store.ts';

/** The frame of pages with forms, which shows who is signed in. */
export function makerFrame({ visit, user }: Maker): Frame {
  const account = user && {
    name: user.username,
    detail: '',
    signOutHref: '/admin/logout/',
    href: accountRoutes.account,
  };
  const frame = frameOf(visit);
  const staff = user?.isStaff ? [{ href: '/admin/', label: 'Admin', icon: 'lock' } as const] : [];
  const navigation = [...frame.navigation, ...staff];
  return {
    ...frame,
    csrfField: visit.frame().csrfField,
    account,
    navigation,
    isAdministrator: user?.isStaff ?? false,
  };
}

interface NewPollView {
  readonly typed: Typed;
  /** Random text of this form. */
  readonly form: string;
  readonly errors: Fields;
  readonly problem?: Content;
}

/** The form for a new poll. */
export function newPollPage(maker: Maker, { typed, form, errors, problem }: NewPollView): string {
  const frame = makerFrame(maker);
  const { fields, lines } = typed;
  const isAccount = maker.user !== undefined;
  const rules = ['max_choices', 'results', 'duplicates', 'closes_at', ...(isAccount ? ['visibility'] : [])];
  return layout(frame, {
    title: 'New poll',
    lead: isAccount
      ? 'Ask a question, and share its link.'
      : 'Ask a question, and share its link. You get a second link, to manage the poll.',
    styles: ['choices.css'],
    modules: ['making.js'],
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, draftLabels(lines.length), 'The poll was not created')}
<form class="stack" method="post" action="${pageRoutes.newPoll}" novalidate data-lines-max="${choicesMax}">${frame.csrfField}<input type="hidden" name="form" value="${form}">
${card(undefined, html`<div class="stack">${questionField(fields.question_text, errors)}${choiceLines(lines, errors)}</div>`)}
${card('Rules', html`<div class="stack">${rules.map((name) => ruleField(name as keyof typeof draftFields, fields, errors))}</div>`)}
<div class="actions"><button>Create poll</button>${moreButton('more', lines)}</div></form>`,
  });
}

function questionField(value: string | undefined, errors: Fields): Html {
  const { question_text } = draftFields;
  return field({
    name: 'question_text',
    label: partsOf('question_text', question_text).label,
    value: value ?? '',
    error: errors.question_text,
    countMax: textMax,
    attributes: { autocomplete: 'off', required: true },
  });
}

function choiceLines(lines: readonly string[], errors: Fields): Html {
  return html`<fieldset class="choices" data-lines><legend>Choices</legend>
${lines.map((value, index) =>
  field({
    name: lineName(index + 1),
    label: `Choice ${index + 1}`,
    value,
    error: errors[lineName(index + 1)],
    attributes: { autocomplete: 'off' },
  }),
)}</fieldset>`;
}

/** A field as the API declares it. */
function ruleField(name: keyof typeof draftFields, fields: Typed['fields'], errors: Fields): Html {
  const { label, labels, schema } = partsOf(name, draftFields[name] as TSchema);
  const shared = { name, label, help: schema.description as string, error: errors[name] };
  const value = fields[name] ?? '';
  if (name === 'closes_at') return field({ ...shared, value, type: 'datetime-local' });
  if (!labels) {
    const { minimum, maximum } = schema as { minimum: number; maximum: number };
    return field({ ...shared, value, type: 'number', attributes: { min: minimum, max: maximum } });
  }
  // New polls cannot start hidden.
  const choices = Object.entries(labels).filter(([choice]) => choice !== 'hidden');
  return field({ ...shared, value, type: 'select', choices });
}

/** A page of the polls of an account. */
export function minePage(maker: Maker, { items, total, page }: OwnPolls, now: string): string {
  const href = (number: number) => (number === 1 ? pageRoutes.mine : `${pageRoutes.mine}?page=${number}`);
  return layout(makerFrame(maker), {
    title: 'My polls',
    actions: linkButton(pageRoutes.newPoll, 'New poll', 'primary'),
    main:
      total === 0
        ? empty({
            icon: 'chart',
            title: 'You have no polls yet',
            text: 'Polls that you make appear here, with their votes.',
            actions: linkButton(pageRoutes.newPoll, 'New poll'),
          })
        : html`${table<Poll>({
            caption: 'My polls, newest first',
            rows: items,
            columns: [
              {
                header: 'Question',
                kind: 'main',
                cell: ({ question }) =>
                  html`<a href="${pathOf(pageRoutes.mineOne, question.id)}">${question.question_text}</a>`,
              },
              { header: 'State', kind: 'plain', cell: (poll) => stateOf(poll, now) },
              { header: 'Votes', kind: 'count', cell: (poll) => formatNumber(votersOf(poll)) },
              { header: 'Published', kind: 'plain', cell: ({ question }) => time(question.pub_date) },
            ],
          })}${pager({ page, pageSize, total, href })}`,
  });
}

function stateOf({ question }: Poll, now: string): Html {
  if (question.visibility === 'hidden') return badge('warn', 'hidden');
  return isClosedAt(question, now) ? badge('plain', 'closed') : badge('good', 'open');
}

function votersOf({ question, choices }: Poll): number {
  return toCounts(question, choices).total;
}

interface ManageView {
  readonly poll: Poll;
  /** Question and choices as the form shows them. */
  readonly texts: Typed;
  readonly path: string;
  readonly now: string;
  readonly errors: Fields;
  readonly problem?: string | undefined;
}

/** A poll for its maker: its votes, its texts and its actions. */
export function managePage(maker: Maker, view: ManageView): string {
  const { poll, path, now, errors, problem, texts } = view;
  const { question, choices } = poll;
  const frame = makerFrame(maker);
  const isHidden = question.visibility === 'hidden';
  const hasVotes = choices.some(({ votes }) => votes > 0);
  const entries: (readonly [string, Content])[] = [
    ['State', stateOf(poll, now)],
    ['Shown', visibilityWords[question.visibility]],
    ['Votes', formatNumber(votersOf(poll))],
    ...choices.map(({ choice_text, votes }) => [choice_text, formatNumber(votes)] as const),
  ];
  const labels = draftLabels(texts.lines.length);
  return layout(frame, {
    title: 'Manage your poll',
    lead: question.question_text,
    styles: ['choices.css'],
    modules: ['making.js', 'keep.js'],
    ...(maker.user && { parent: { href: pageRoutes.mine, label: 'My polls' } }),
    actions: !isHidden && linkButton(pathOf(pageRoutes.poll, question.id), 'Open the poll'),
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, labels, 'The changes were not saved')}
<div class="beside"><div class="stack">${hasVotes ? notice('info', 'The texts can no longer change, because someone has voted.') : textsForm(frame, { ...view, shown: idsOf(poll) })}
${card(undefined, deeds(frame, { poll, path, now }, maker.user !== undefined))}</div>
<aside class="stack">${card('Votes', facts(entries))}${!isHidden && shareBox(frame, question)}</aside></div>`,
  });
}

/** The texts typed before the session ended, to be sent again after signing in. */
export function textsPage(maker: Maker, view: Omit<TextsView, 'errors'>): string {
  const frame = makerFrame(maker);
  return layout(frame, {
    title: 'Manage your poll',
    styles: ['choices.css'],
    modules: ['making.js'],
    main: html`${notice('bad', signInFirst(view.path))}${textsForm(frame, { ...view, errors: {} })}`,
  });
}

/** Asks a visitor whose session has ended to sign in beside the form. */
export function signInFirst(next: string): Html {
  return html`Your session has ended. <a href="${signInPath(next)}" target="_blank" rel="noopener">Sign in in a new tab</a>, then send this form again.`;
}

interface TextsView {
  readonly texts: Typed;
  readonly path: string;
  /** Ids of the choices that the lines are for. */
  readonly shown: string;
  readonly errors: Fields;
}

function textsForm({ csrfField }: Frame, { texts, path, shown, errors }: TextsView): Html {
  const { fields, lines } = texts;
  return card(
    'Question and choices',
    html`<form class="stack" method="post" action="${path}" novalidate data-lines-max="${choicesMax}">${csrfField}<input type="hidden" name="choices" value="${shown}">
<p class="muted">You can change these until someone votes. Empty a line to remove its choice.</p>
${questionField(fields.question_text, errors)}${choiceLines(lines, errors)}
<div class="actions"><button name="deed" value="texts">Save</button>${moreButton('deed', lines)}</div></form>`,
  );
}

/** The ids of the choices in their order, which the form names. */
function idsOf({ choices }: Poll): string {
  return choices.map(({ id }) => id).join('-');
}

function moreButton(name: string, lines: readonly string[]): Content {
  return (
    lines.length < choicesMax &&
    html`<button class="secondary" name="${name}" value="more" data-more>More choices</button>`
  );
}

/** A button for each action. */
function deeds(
  { csrfField }: Frame,
  { poll, path, now }: Pick<ManageView, 'poll' | 'path' | 'now'>,
  isAccount: boolean,
): Html {
  const { question } = poll;
  const { visibility } = question;
  const buttons: (readonly [deed: string, label: string])[] = [];
  if (!isClosedAt(question, now)) buttons.push(['close', 'Close now']);
  if (visibility !== 'hidden') buttons.push(['hide', 'Hide']);
  if (visibility !== 'link')
    buttons.push(['show', visibility === 'hidden' ? 'Show again' : 'Remove from the list']);
  if (isAccount && visibility !== 'listed') buttons.push(['list', 'Put on the list of polls']);
  return html`<form class="actions" method="post" action="${path}">${csrfField}${buttons.map(
    ([deed, label]) => html`<button class="secondary" name="deed" value="${deed}">${label}</button>`,
  )}${linkButton(`${path}delete/`, 'Delete')}</form>`;
}

/** Asks before a poll is deleted. */
export function deletePage(maker: Maker, poll: Poll, path: string): string {
  const frame = makerFrame(maker);
  return layout(frame, {
    title: 'Delete a poll',
    main: confirm({
      title: `Delete “${poll.question.question_text}”?`,
      text: `Its ${count(poll.choices.length, 'choice')} and ${count(votersOf(poll), 'vote')} go with it. This cannot be undone.`,
      action: `${path}delete/`,
      csrfField: frame.csrfField,
      deed: 'Delete poll',
      cancelHref: path,
    }),
  });
}
