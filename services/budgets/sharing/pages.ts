import type { PageRoutes } from '@octavo/web/pages';
import { checkRight, getBudget } from '../budgets/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  callerWithIdempotencyKey,
  filled,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  submit,
  type Visitor,
} from '../site/page-context.ts';
import { acceptInvitation, declineInvitation } from './invitations.ts';
import { getMember, inviteMember, removeMember, type Sharing, updateMember } from './members.ts';
import { allMembers } from './on-pages.ts';
import { parseMemberInput, parseMemberPatch } from './sharing.ts';
import { membersPage, removalPage } from './views.ts';

interface SharingPagesParts extends PageParts {
  readonly sharing: Sharing;
}

/** Forms of the members of a budget, and of invitations. Invitations stand on the page of budgets. */
export function addSharingPages(routes: PageRoutes<PageSession>, parts: SharingPagesParts): void {
  addMemberForms(routes, parts);
  addInvitationForms(routes, parts);
}

function addMemberForms(routes: PageRoutes<PageSession>, parts: SharingPagesParts): void {
  const { context, sharing, visitors: access } = parts;
  const showMembers = async (visitor: Visitor, problem?: Parameters<typeof membersPage>[1]['problem']) => {
    const { visit, caller } = visitor;
    const budget = await getBudget(context, caller, idOf(visit));
    checkRight(budget.role, 'own');
    return membersPage(visitor, { budget, members: await allMembers(context, caller, budget.id), problem });
  };
  routes.get(pageRoutes.members, { access }, (visitor) => showMembers(visitor));
  routes.post(pageRoutes.members, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: () => {
        const given = parseMemberInput(filled(visit, ['email', 'role']));
        return inviteMember(sharing, callerWithIdempotencyKey(visitor), idOf(visit), given);
      },
      done: ({ email }) => goToMembers(visit, `The invitation to ${email} is on its way.`),
      again: (problem) => showMembers(visitor, problem),
    });
  });
  routes.post(pageRoutes.memberRole, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => updateMember(context, caller, placeOf(visit), parseMemberPatch(filled(visit, ['role']))),
      done: ({ email, role }) =>
        goToMembers(visit, `${email} is ${role === 'editor' ? 'an editor' : 'a viewer'} now.`),
      again: (problem) => showMembers(visitor, problem),
    });
  });
  routes.get(pageRoutes.removeMember, { access }, async ({ visit, caller, ...visitor }) => {
    const place = placeOf(visit);
    const budget = await getBudget(context, caller, place.budgetId);
    const member = await getMember(context, caller, place);
    return removalPage({ visit, caller, ...visitor }, { budget, member });
  });
  routes.post(pageRoutes.removeMember, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const place = placeOf(visit);
    const { name, role } = await getBudget(context, caller, place.budgetId);
    const { message } = await removeMember(context, caller, place);
    if (role === 'owner') return goToMembers(visit, `${message}.`);
    return visit.redirect(pageRoutes.budgets, { tone: 'good', text: `You left ${name}.` });
  });
}

function addInvitationForms(routes: PageRoutes<PageSession>, { context, visitors: access }: PageParts): void {
  routes.post(pageRoutes.acceptInvitation, { access }, async (visitor) => {
    const { visit } = visitor;
    const budget = await acceptInvitation(context, callerWithIdempotencyKey(visitor), idOf(visit));
    const text = `${budget.name} is among your budgets now.`;
    return visit.redirect(pathOf(pageRoutes.budget, budget.id), { tone: 'good', text });
  });
  routes.post(pageRoutes.declineInvitation, { access }, async (visitor) => {
    const { visit } = visitor;
    await declineInvitation(context, callerWithIdempotencyKey(visitor), idOf(visit));
    return visit.redirect(pageRoutes.budgets, { tone: 'good', text: 'The invitation was declined.' });
  });
}

function goToMembers(visit: PageVisit, text: string) {
  return visit.redirect(pathOf(pageRoutes.members, idOf(visit)), { tone: 'good', text });
}

function placeOf(visit: PageVisit): { readonly budgetId: string; readonly id: string } {
  const { member } = visit.request.params as { readonly member: string };
  return { budgetId: idOf(visit), id: member };
}
