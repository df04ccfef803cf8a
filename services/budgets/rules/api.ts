import { addResource, IdempotencyHeader, IdParams } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import { callerWithIdempotencyKey, owned } from '../edges/api-access.ts';
import { accepted } from '../edges/api-responses.ts';
import { routes } from '../routes.ts';
import { Task, type Tasks } from '../tasks/index.ts';
import { applyRule } from './apply.ts';
import { ApplyRequest, ApplyResult, Rule, RuleInput, RulePatch } from './rule.ts';
import { createRule, deleteRule, getRule, listRules, updateRule } from './rules.ts';

const tag = 'Import and export';

export function addRuleApi(app: HttpApp, tasks: Tasks, access: AccessRule): void {
  const { context } = tasks;
  addResource(app, {
    ...owned(access),
    name: 'Rule',
    tag,
    paths: { list: routes.rules, item: routes.rule },
    schema: Rule,
    list: {
      summary: 'Your rules for imports, in their order',
      description:
        'Lists the rules that give imported expenses a budget, a category, tags and a description. Each field is set by the first matching rule that sets it.',
      run: (caller, query) => listRules(context, caller, query),
    },
    get: {
      summary: 'A rule for imports',
      description: 'Reads one of your rules.',
      run: (caller, id) => getRule(context, caller, id),
    },
    create: {
      summary: 'Add a rule for imports',
      description:
        'Adds a rule. Imports that begin afterwards apply it; a category that the file gives stays. An account has at most 200.',
      body: RuleInput,
      errors: ['not_found'],
      run: (caller, body) => createRule(context, caller, body),
    },
    change: {
      summary: 'Change or move a rule',
      description: 'Changes the fields that are given. A `position` moves the rules between by one.',
      body: RulePatch,
      run: (caller, id, change) => updateRule(context, caller, id, change),
    },
    remove: {
      summary: 'Delete a rule',
      description: 'Deletes a rule. Expenses keep what it gave them.',
      run: (caller, id, { versions }) => deleteRule(context, caller, id, versions),
    },
  });
  app.post(
    routes.ruleApply,
    {
      access,
      schema: {
        operationId: 'applyRule',
        summary: 'Apply a rule to the expenses that are there',
        description:
          'Gives expenses that the rule fits what they lack: those with a budget or a category keep it. A dry run counts only. If the rule fits more than 1,000, the response is 202 with a task.',
        tags: [tag],
        params: IdParams,
        headers: IdempotencyHeader,
        body: ApplyRequest,
        response: { 200: ApplyResult, 202: Task },
      },
      config: { errors: ['validation_failed', 'not_found', 'conflict', 'rate_limited'] },
    },
    async (request, reply) => {
      const caller = callerWithIdempotencyKey(request, reply);
      const result = await applyRule(tasks, caller, request.params.id, request.body);
      return 'matched' in result ? result : accepted(reply, result);
    },
  );
}
