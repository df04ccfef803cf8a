import type { FormProblem } from '@octavo/web/html';
import { count } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { listBudgets } from '../budgets/index.ts';
import { lastChangeForm, listCategories } from '../expenses/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  callerWithIdempotencyKey,
  idOf,
  type PageParts,
  type PageSession,
  parameter,
  submit,
  type Visitor,
  versionsOf,
} from '../site/page-context.ts';
import { hrefWith } from '../site/views.ts';
import type { Tasks } from '../tasks/index.ts';
import { applyRule, tryRule } from './apply.ts';
import { type FormValues, inputOf, nameIn, savedValues, triedRule } from './pages-form.ts';
import { deletionPage, formPage, listPage } from './pages-views.ts';
import { type Rule, rulesMax } from './rule.ts';
import { nameOf } from './rule-words.ts';
import { createRule, deleteRule, getRule, listRules, updateRule } from './rules.ts';
import { addSortingPages } from './sorting/pages.ts';

interface RulePagesParts extends PageParts {
  readonly tasks: Tasks;
}

const budgetsMax = 500;

export function addRulePages(routes: PageRoutes<PageSession>, parts: RulePagesParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.rules, { access }, async (visitor) => {
    const { items: rules } = await listRules(context, visitor.caller, { limit: rulesMax });
    const { items: budgets } = await listBudgets(context, visitor.caller, { limit: budgetsMax, isOwn: true });
    const token = parameter(visitor.visit, 'undo');
    const undo = await lastChangeForm(context, visitor, { back: pageRoutes.rules, token });
    return listPage(visitor, { rules, budgets, undo });
  });
  addSortingPages(routes, parts);
  routes.get(pageRoutes.newRule, { access }, (visitor) =>
    showForm(visitor, parts, { values: proposed(visitor) }),
  );
  routes.post(pageRoutes.rules, { access }, (visitor) =>
    save(visitor, parts, () =>
      createRule(context, callerWithIdempotencyKey(visitor), inputOf(visitor.visit)),
    ),
  );
  routes.get(pageRoutes.editRule, { access }, (visitor) => showForm(visitor, parts, { values: undefined }));
  routes.post(pageRoutes.editRule, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return save(visitor, parts, () =>
      updateRule(context, caller, idOf(visit), { ...inputOf(visit), versions: versionsOf(visit) }),
    );
  });
  routes.post(pageRoutes.moveRule, { access }, async ({ visit, caller }) => {
    const position = Number(/^[1-9]\d{0,3}$/.exec(visit.field('position'))?.[0] ?? 1);
    await updateRule(context, caller, idOf(visit), { position });
    return visit.redirect(`${pageRoutes.rules}#rule-${idOf(visit)}`);
  });
  routes.get(pageRoutes.deleteRule, { access }, async (visitor) =>
    deletionPage(visitor, await getRule(context, visitor.caller, idOf(visitor.visit))),
  );
  routes.post(pageRoutes.deleteRule, { access }, async ({ visit, caller }) => {
    await deleteRule(context, caller, idOf(visit));
    return visit.redirect(pageRoutes.rules, { tone: 'good', text: 'The rule was deleted.' });
  });
}

/** The rule that the address proposes. */
function proposed({ visit }: Visitor): FormValues {
  const contains = parameter(visit, 'contains').slice(0, 200);
  return {
    [nameIn(0, 'field')]: 'description',
    [nameIn(0, 'op')]: 'contains',
    [nameIn(0, 'value')]: contains,
    category: parameter(visit, 'category').slice(0, 100),
    budgetId: parameter(visit, 'budget').slice(0, 64),
    apply: String(contains !== ''),
  };
}

/** Saves the rule and applies it to what there is, or only tries it. */
function save(visitor: Visitor, parts: RulePagesParts, work: () => Promise<Rule>) {
  const { visit, caller } = visitor;
  if (visit.field('do') === 'try') return showForm(visitor, parts, { values: visit.fields() });
  return submit(visit, {
    work,
    done: async (rule) => {
      const saved = `The rule for “${nameOf(rule)}” was saved.`;
      const place = (undo: string | null) =>
        `${hrefWith(pageRoutes.rules, { undo: undo ?? '' })}#rule-${rule.id}`;
      if (visit.field('apply') !== 'true') return visit.redirect(place(null), { tone: 'good', text: saved });
      const result = await applyRule(parts.tasks, caller, rule.id, {});
      if (!('matched' in result))
        return visit.redirect(pathOf(pageRoutes.task, result.id), { tone: 'good', text: saved });
      const text = `${saved} It changed ${count(result.changed, 'expense')}.`;
      return visit.redirect(place(result.undo), { tone: 'good', text });
    },
    again: (problem) => showForm(visitor, parts, { values: visit.fields(), problem }),
  });
}

interface FormState {
  /** Undefined for those that are saved. */
  readonly values: FormValues | undefined;
  readonly problem?: FormProblem;
}

/** The form, with the expenses that the rule would fit. */
async function showForm(
  visitor: Visitor,
  { context }: PageParts,
  { values: given, problem }: FormState,
): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  const rule = id === undefined ? undefined : await getRule(context, caller, id);
  // A checkbox that is off is not sent.
  const off = visit.request.method === 'POST' ? { enabled: 'false' } : {};
  const values = given ? { ...off, ...given } : rule ? savedValues(rule) : {};
  const tried = await triedRule(values);
  const trial = tried && (await tryRule(context, caller, tried));
  const categories = await listCategories(context, caller);
  const { items: budgets } = await listBudgets(context, caller, { limit: budgetsMax, isOwn: true });
  return formPage(visitor, { rule, values, budgets, categories, trial, problem });
}
