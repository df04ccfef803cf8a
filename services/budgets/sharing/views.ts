import type { FormProblem } from '@octavo/web/html';
import { card, confirm, count, field, type Html, html, icon, notice, table } from '@octavo/web/html';
import type { Budget } from '../budgets/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { day } from '../site/views.ts';
import { type Invitation, type Member, memberRoles } from './sharing.ts';

const labels = { email: 'E-mail address', role: 'Role' };
const roleNames = { viewer: 'Viewer', editor: 'Editor', owner: 'Owner' } as const;
const roleChoices = memberRoles.map((role) => [role, roleNames[role]] as const);
const deeds = { viewer: 'see it', editor: 'see it, and add, change and delete expenses' } as const;

interface MembersView {
  readonly budget: Pick<Budget, 'id' | 'name'>;
  readonly members: readonly Member[];
  readonly problem?: FormProblem | undefined;
}

function membersCard(visitor: Visitor, { budget, members, problem }: MembersView): Html {
  const { visit, csrfField } = visitor;
  const typed = problem ? visit.fields() : {};
  const { email: emailError, role: roleError } = problem?.errors ?? {};
  return card(
    'Shared with',
    html`${members.length > 0 && memberTable(visitor, budget.id, members)}${problem?.problem && notice('bad', problem.problem)}
<form class="stack form" method="post" action="${pathOf(pageRoutes.members, budget.id)}" novalidate>${csrfField}${onceField()}
${field({ name: 'email', label: labels.email, type: 'email', value: typed.email ?? '', error: emailError, attributes: { required: true, maxlength: 254, autocomplete: 'off', placeholder: 'partner@example.com' } })}
${field({ name: 'role', label: labels.role, type: 'select', value: typed.role ?? 'editor', error: roleError, choices: roleChoices })}
<p class="small muted">Viewers see the budget and its expenses. Editors also add, change and delete expenses. You stay the owner. The invitation is mailed, and expires in 7 days.</p>
<div class="actions"><button>${icon('plus')}Invite</button></div></form>`,
  );
}

function memberTable({ csrfField }: Visitor, budgetId: string, members: readonly Member[]): Html {
  const path = (route: string, { id }: Member) => pathOf(route, budgetId).replace(':member', id);
  return table<Member>({
    caption: 'Members and invitations',
    rows: members,
    columns: [
      {
        header: 'Person',
        kind: 'main',
        cell: ({ email, user }) =>
          user?.username ? html`${user.username}<div>${email}</div>` : html`${email}`,
      },
      {
        header: 'State',
        kind: 'plain',
        cell: ({ state, createdAt, expiresAt }) =>
          state === 'accepted'
            ? html`Member since ${day(createdAt.slice(0, 10))}`
            : html`Invited, until ${day((expiresAt ?? createdAt).slice(0, 10))}`,
      },
      {
        header: labels.role,
        kind: 'plain',
        cell: (member) =>
          html`<form class="inline" method="post" action="${path(pageRoutes.memberRole, member)}">${csrfField}<select name="role" aria-label="Role of ${member.email}">${roleChoices.map(
            ([value, label]) =>
              value === member.role
                ? html`<option value="${value}" selected>${label}</option>`
                : html`<option value="${value}">${label}</option>`,
          )}</select> <button class="quiet">Save</button></form>`,
      },
      {
        header: 'Actions',
        kind: 'row-actions',
        cell: (member) =>
          html`<a href="${path(pageRoutes.removeMember, member)}" data-dialog title="Remove">${icon('close')}<span class="hidden">Remove ${member.email}</span></a>`,
      },
    ],
  });
}

/** The members of a budget, with the form that invites one. */
export function membersPage(visitor: Visitor, view: MembersView): Promise<string> {
  const { id, name } = view.budget;
  return visitor.render({
    title: `Share ${name}`,
    parent: { href: pathOf(pageRoutes.budget, id), label: name },
    main: html`<div class="sharing">${membersCard(visitor, view)}</div>`,
  });
}

/** Words about the owner and the rights of the reader; undefined for the owner. */
export function sharedLead({ role, sharedBy }: Budget): string | undefined {
  if (role === 'owner') return undefined;
  return `Shared by ${sharedBy?.username ?? 'another person'}: you can ${deeds[role]}.`;
}

interface RemovalView {
  readonly budget: Pick<Budget, 'id' | 'name' | 'role'>;
  readonly member: Member;
  readonly problem?: FormProblem | undefined;
}

/** Asks before a member is removed or leaves, or an invitation is withdrawn. */
export function removalPage(visitor: Visitor, { budget, member, problem }: RemovalView): Promise<string> {
  const { id, name, role } = budget;
  const back = pathOf(role === 'owner' ? pageRoutes.members : pageRoutes.budget, id);
  const person = member.user?.username ?? member.email;
  const words =
    role !== 'owner'
      ? {
          title: `Leave “${name}”?`,
          text: 'You no longer see the budget and its expenses. What you added stays.',
          deed: 'Leave budget',
        }
      : member.state === 'pending'
        ? {
            title: `Withdraw the invitation of ${person}?`,
            text: 'It can no longer be accepted.',
            deed: 'Withdraw invitation',
          }
        : {
            title: `Remove ${person}?`,
            text: `${person} no longer sees “${name}”. Expenses that ${person} added stay.`,
            deed: 'Remove member',
          };
  return visitor.render({
    title: words.deed,
    parent: { href: pathOf(pageRoutes.budget, id), label: name },
    main: confirm({
      ...words,
      action: pathOf(pageRoutes.removeMember, id).replace(':member', member.id),
      csrfField: visitor.csrfField,
      problem: problem?.problem,
      cancelHref: back,
    }),
  });
}

/** Says that invitations appear once the address is verified, with a button that mails the link again. */
export function verifyNotice(
  { csrfField }: Visitor,
  { email, back }: { readonly email: string; readonly back: string },
): Html {
  return notice(
    'info',
    html`<form class="last-change" method="post" action="${pageRoutes.verifyAgain}">${csrfField}<input type="hidden" name="back" value="${back}"><span>Verify your address to see invitations: open the link in the mail to ${email}.</span> <button class="secondary">Send the link again</button></form>`,
  );
}

/** The invitations that wait for the reader, with a form for each. */
export function invitationsCard(
  { csrfField }: Visitor,
  invitations: readonly Invitation[],
): Html | undefined {
  if (invitations.length === 0) return undefined;
  return card(
    count(invitations.length, 'invitation'),
    html`<ul class="invitations">${invitations.map(
      ({ id, budgetName, role, invitedBy, expiresAt }) =>
        html`<li><p><b>${invitedBy.username ?? 'Another person'}</b> shares “${budgetName}” with you: you can ${deeds[role]}. <small>Expires ${day(expiresAt.slice(0, 10))}</small></p>
<div class="actions"><form method="post" action="${pathOf(pageRoutes.acceptInvitation, id)}">${csrfField}${onceField()}<button>Accept<span class="hidden"> ${budgetName}</span></button></form>
<form method="post" action="${pathOf(pageRoutes.declineInvitation, id)}">${csrfField}${onceField()}<button class="secondary">Decline<span class="hidden"> ${budgetName}</span></button></form></div></li>`,
    )}</ul>`,
  );
}
