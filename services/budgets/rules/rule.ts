import { isoTime, type Static, Type } from '@octavo/core';
import { Id, Instant, text } from '../edges/schemas.ts';
import type { RuleRow } from '../store/tables.ts';

export const rulesMax = 200;

const fields = {
  contains: text(200, {
    description: 'Part of a description, in any case and with or without accents',
    examples: ['LIDL'],
  }),
  category: text(100, { examples: ['Groceries'] }),
  tags: Type.Optional(Type.Array(text(50), { maxItems: 20, examples: [['food']] })),
  position: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Place among the rules, from 1 on; the last by default',
    }),
  ),
};

export const Rule = Type.Object(
  {
    id: Id,
    contains: Type.String({ examples: ['LIDL'] }),
    category: Type.String({ examples: ['Groceries'] }),
    tags: Type.Array(Type.String(), { examples: [['food']] }),
    position: Type.Integer({ examples: [1], description: 'The first matching rule applies' }),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Rule' },
);
export type Rule = Static<typeof Rule>;

export const RuleInput = Type.Object(fields, { title: 'RuleInput' });
export type RuleInput = Static<typeof RuleInput>;

export const RulePatch = Type.Object(
  { ...fields, contains: Type.Optional(fields.contains), category: Type.Optional(fields.category) },
  { title: 'RulePatch', description: 'Fields that are left out stay unchanged' },
);
export type RulePatch = Static<typeof RulePatch>;

export function toRule({ id, contains, category, position, version, ...row }: RuleRow): Rule {
  return {
    id,
    contains,
    category,
    tags: JSON.parse(row.tags),
    position,
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version,
  };
}
