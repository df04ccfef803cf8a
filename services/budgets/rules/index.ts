export { ruleTask } from './apply.ts';
export { comparable, payeeOf } from './matching.ts';
export { type RuleDefinition, type RuleInput, shortRule } from './rule.ts';
export { type RuledRow, RuleSet } from './rule-set.ts';
export { createRule, listRules, rulesToApply } from './rules.ts';
export { takeBackSorting } from './sorting/undo.ts';
export { ruleOffer } from './views.ts';
