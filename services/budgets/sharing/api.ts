import { Type } from '@octavo/core';
import { addList, addResource, IdempotencyHeader, IdParams } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { Budget } from '../budgets/index.ts';
import { callerOf, callerWithIdempotencyKey, owned } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import { acceptInvitation, declineInvitation, listInvitations } from './invitations.ts';
import { getMember, inviteMember, listMembers, removeMember, type Sharing, updateMember } from './members.ts';
import { Invitation, Member, MemberInput, MemberPatch } from './sharing.ts';

const tag = 'Sharing';
const budgetId = Type.String({ format: 'text' });
const BudgetParams = Type.Object({ budgetId });
const MemberParams = Type.Object({ budgetId, ...IdParams.properties });
const Answered = Type.Object({ message: Type.String(), id: Type.String() }, { title: 'Answered' });

export function addSharingApi(app: HttpApp, sharing: Sharing, access: AccessRule): void {
  addMembers(app, sharing, access);
  addInvitations(app, sharing, access);
}

function addMembers(app: HttpApp, sharing: Sharing, access: AccessRule): void {
  const { context } = sharing;
  const kind = {
    ...owned(access),
    name: 'Member',
    tag,
    paths: { list: routes.members, item: routes.member },
    params: MemberParams,
    schema: Member,
    callerOf: (request: FastifyRequest) => ({
      caller: callerOf(request),
      budgetId: (request.params as { readonly budgetId: string }).budgetId,
    }),
  };
  addList(app, kind, {
    summary: 'Members of a budget',
    description:
      'Lists the people with whom a budget is shared, and invitations that wait. Others than its owner see their own membership only.',
    params: BudgetParams,
    errors: ['not_found'],
    run: ({ caller, budgetId }, page) => listMembers(context, caller, budgetId, page),
  });
  addResource(app, {
    ...kind,
    get: {
      summary: 'A member of a budget',
      description: 'Reads a member, or an invitation that waits.',
      run: ({ caller, budgetId }, id) => getMember(context, caller, { budgetId, id }),
    },
    change: {
      summary: 'Change what a member may do',
      description: 'Changes the role of a member or of an invitation. Only the owner of the budget may.',
      body: MemberPatch,
      errors: ['forbidden'],
      run: ({ caller, budgetId }, id, change) => updateMember(context, caller, { budgetId, id }, change),
    },
    remove: {
      summary: 'End a membership, or withdraw an invitation',
      description: 'The owner of the budget may remove every member. A member may leave.',
      run: ({ caller, budgetId }, id) => removeMember(context, caller, { budgetId, id }),
    },
  });
  app.post(
    routes.members,
    {
      access,
      schema: {
        operationId: 'createMember',
        summary: 'Share a budget',
        description:
          'Mails an invitation, which expires in 7 days. The response is the same whether or not the address has an account. Its address is in `Location`. An invitation of the same address that waits is replaced.',
        tags: [tag],
        params: BudgetParams,
        headers: IdempotencyHeader,
        body: MemberInput,
        response: { 201: Member },
      },
      config: { errors: ['validation_failed', 'forbidden', 'not_found', 'conflict', 'rate_limited'] },
    },
    async (request, reply) => {
      const { budgetId } = request.params;
      const caller = callerWithIdempotencyKey(request, reply);
      const member = await inviteMember(sharing, caller, budgetId, request.body);
      const location = routes.member.replace(':budgetId', budgetId).replace(':id', member.id);
      reply.code(201).header('location', location);
      return member;
    },
  );
}

function addInvitations(app: HttpApp, { context }: Sharing, access: AccessRule): void {
  const errors = ['not_found', 'conflict', 'rate_limited'] as const;
  const paths = { list: routes.invitations, item: routes.invitations };
  addList(
    app,
    { ...owned(access), name: 'Invitation', tag, paths, schema: Invitation },
    {
      summary: 'Invitations that wait for you',
      description:
        'Lists invitations to your e-mail address, which must be verified, to budgets of other people.',
      run: (caller, page) => listInvitations(context, caller, page),
    },
  );
  app.post(
    routes.acceptInvitation,
    {
      access,
      schema: {
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation',
        description: 'Returns the budget, which is among yours from now on. One that was answered gives 409.',
        tags: [tag],
        params: IdParams,
        headers: IdempotencyHeader,
        response: { 200: Budget },
      },
      config: { errors: [...errors] },
    },
    (request, reply) =>
      acceptInvitation(context, callerWithIdempotencyKey(request, reply), request.params.id),
  );
  app.post(
    routes.declineInvitation,
    {
      access,
      schema: {
        operationId: 'declineInvitation',
        summary: 'Decline an invitation',
        description: 'Ends an invitation. One that was answered gives 409.',
        tags: [tag],
        params: IdParams,
        headers: IdempotencyHeader,
        response: { 200: Answered },
      },
      config: { errors: [...errors] },
    },
    (request, reply) =>
      declineInvitation(context, callerWithIdempotencyKey(request, reply), request.params.id),
  );
}
