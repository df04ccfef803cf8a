export { type Categorization, categorizer } from './matching.ts';
export type { RuleInput } from './rule.ts';
export { createRule, listRules, rulesToApply } from './rules.ts';
export { ruleOffer } from './views.ts';
