import { addResource } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { owned } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import { Rule, RuleInput, RulePatch } from './rule.ts';
import { createRule, deleteRule, getRule, listRules, updateRule } from './rules.ts';

export function addRuleApi(app: HttpApp, core: Context, access: AccessRule): void {
  addResource(app, {
    ...owned(access),
    name: 'Rule',
    tag: 'Import and export',
    paths: { list: routes.rules, item: routes.rule },
    schema: Rule,
    list: {
      summary: 'Your rules for imports, in their order',
      description:
        'Lists the rules that give imported expenses a category by their description. The first matching rule applies.',
      run: (caller, query) => listRules(core, caller, query),
    },
    get: {
      summary: 'A rule for imports',
      description: 'Reads one of your rules.',
      run: (caller, id) => getRule(core, caller, id),
    },
    create: {
      summary: 'Add a rule for imports',
      description:
        'Adds a rule. Imports that begin afterwards apply it to rows whose file gives no category. An account has at most 200.',
      body: RuleInput,
      run: (caller, body) => createRule(core, caller, body),
    },
    change: {
      summary: 'Change or move a rule',
      description: 'Changes the fields that are given. A `position` moves the rules between by one.',
      body: RulePatch,
      run: (caller, id, change) => updateRule(core, caller, id, change),
    },
    remove: {
      summary: 'Delete a rule',
      description: 'Deletes a rule. Expenses keep the categories that it gave them.',
      run: (caller, id, { versions }) => deleteRule(core, caller, id, versions),
    },
  });
}
