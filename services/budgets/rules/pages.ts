import type { FormProblem } from '@octavo/web/html';
import { count } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { createParser } from '../edges/schema-parser.ts';
import { listCategories } from '../expenses/index.ts';
import { pageRoutes } from '../routes.ts';
import {
  callerWithIdempotencyKey,
  filled,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  submit,
  typedTags,
  type Visitor,
  versionsOf,
} from '../site/page-context.ts';
import { deletionPage, formPage, listPage } from './pages-views.ts';
import { type Rule, RuleInput, rulesMax } from './rule.ts';
import { applyRule, createRule, deleteRule, getRule, listRules, tryRule, updateRule } from './rules.ts';

const parseInput = createParser(RuleInput);

export function addRulePages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { core, visitors: access } = parts;
  routes.get(pageRoutes.rules, { access }, async (visitor) => {
    const { items } = await listRules(core, visitor.caller, { limit: rulesMax });
    return listPage(visitor, items);
  });
  routes.get(pageRoutes.newRule, { access }, (visitor) => {
    const [contains, category] = [parameter(visitor.visit, 'contains'), parameter(visitor.visit, 'category')];
    return showForm(visitor, parts, { values: { contains, category, apply: contains && 'true' } });
  });
  routes.post(pageRoutes.rules, { access }, (visitor) =>
    save(visitor, parts, () => createRule(core, callerWithIdempotencyKey(visitor), inputOf(visitor.visit))),
  );
  routes.get(pageRoutes.editRule, { access }, (visitor) => showForm(visitor, parts, { values: {} }));
  routes.post(pageRoutes.editRule, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return save(visitor, parts, () =>
      updateRule(core, caller, idOf(visit), { ...inputOf(visit), versions: versionsOf(visit) }),
    );
  });
  routes.post(pageRoutes.moveRule, { access }, async ({ visit, caller }) => {
    const position = Number(/^[1-9]\d{0,3}$/.exec(visit.field('position'))?.[0] ?? 1);
    await updateRule(core, caller, idOf(visit), { position });
    return visit.redirect(pageRoutes.rules);
  });
  routes.get(pageRoutes.deleteRule, { access }, async (visitor) =>
    deletionPage(visitor, await getRule(core, visitor.caller, idOf(visitor.visit))),
  );
  routes.post(pageRoutes.deleteRule, { access }, async ({ visit, caller }) => {
    await deleteRule(core, caller, idOf(visit));
    return visit.redirect(pageRoutes.rules, { tone: 'good', text: 'The rule was deleted.' });
  });
}

/** Saves the rule and applies it to what there is, or only tries it. */
function save(visitor: Visitor, parts: PageParts, work: () => Promise<Rule>) {
  const { visit, caller } = visitor;
  if (visit.field('do') === 'try') return showForm(visitor, parts, { values: visit.fields() });
  return submit(visit, {
    work,
    done: async (rule) => {
      const changed = visit.field('apply') === 'true' ? await applyRule(parts.core, caller, rule) : 0;
      const also = changed > 0 ? ` It gave ${count(changed, 'expense')} the category ${rule.category}.` : '';
      const text = `The rule for “${rule.contains}” was saved.${also}`;
      return visit.redirect(pageRoutes.rules, { tone: 'good', text });
    },
    again: (problem) => showForm(visitor, parts, { values: visit.fields(), problem }),
  });
}

interface FormState {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly problem?: FormProblem;
}

/** The form, with the expenses that the rule would fit. */
async function showForm(
  visitor: Visitor,
  { core }: PageParts,
  { values, problem }: FormState,
): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  const rule = id === undefined ? undefined : await getRule(core, caller, id);
  const contains = (values.contains ?? rule?.contains ?? '').trim();
  const trial = contains === '' ? undefined : await tryRule(core, caller, { contains });
  const categories = await listCategories(core, caller);
  return formPage(visitor, { rule, values, categories, trial, problem });
}

function inputOf(visit: PageVisit): RuleInput {
  return parseInput({ ...filled(visit, ['contains', 'category']), tags: typedTags(visit) });
}
