import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { queryTooComplex } from './errors.ts';

export const depthMax = 8;
export const costMax = 5_000;
export const aliasesMax = 15;
export const tokensMax = 1_000;
export const documentBytesMax = 64 * 1_024;

/** What a list is taken to hold if it has no argument `first`. */
const listSize = 20;
/** Fields that give many, whatever they are asked for. */
const lists = new Set(['budgets', 'expenses', 'notifications']);
const sizeArguments = new Set(['first', 'size']);

interface Measure {
  readonly depth: number;
  readonly cost: number;
  readonly aliases: number;
}

interface Measuring {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** What a fragment adds, measured once. */
  readonly known: Map<string, Measure>;
}

/**
 * Refuses an operation that asks for too much: its depth (root fields are 1), the fields that it gives (a list gives them `first` times),
 * and its aliases. Introspection does not count. The document must be valid, so that fragments have no circles.
 */
export function checkLimits(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | undefined {
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const defaults = Object.fromEntries(
    (operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue?.kind === Kind.INT ? Number(defaultValue.value) : undefined,
    ]),
  );
  const measuring = {
    variables: { ...defaults, ...variables },
    fragments,
    known: new Map<string, Measure>(),
  };
  const { depth, cost, aliases } = measure(operation.selectionSet, measuring);
  if (depth > depthMax)
    return queryTooComplex(`The query is ${depth} levels deep; at most ${depthMax} are allowed.`);
  if (aliases > aliasesMax)
    return queryTooComplex(`The query has ${aliases} aliases; at most ${aliasesMax} are allowed.`);
  if (cost > costMax)
    return queryTooComplex(
      `The query costs ${cost}; at most ${costMax} are allowed. Ask for fewer rows or fields.`,
    );
  return undefined;
}

function measure({ selections }: SelectionSetNode, measuring: Measuring): Measure {
  const parts = selections.map((selection) => {
    if (selection.kind === Kind.FIELD) return measureField(selection, measuring);
    if (selection.kind === Kind.INLINE_FRAGMENT) return measure(selection.selectionSet, measuring);
    return measureFragment(selection.name.value, measuring);
  });
  return {
    depth: Math.max(0, ...parts.map(({ depth }) => depth)),
    cost: parts.reduce((sum, { cost }) => sum + cost, 0),
    aliases: parts.reduce((sum, { aliases }) => sum + aliases, 0),
  };
}

function measureFragment(name: string, measuring: Measuring): Measure {
  const known = measuring.known.get(name);
  if (known) return known;
  const fragment = measuring.fragments.get(name);
  const measured = fragment ? measure(fragment.selectionSet, measuring) : { depth: 0, cost: 0, aliases: 0 };
  measuring.known.set(name, measured);
  return measured;
}

function measureField(field: FieldNode, measuring: Measuring): Measure {
  if (field.name.value.startsWith('__')) return { depth: 0, cost: 0, aliases: 0 };
  const inner = field.selectionSet && measure(field.selectionSet, measuring);
  return {
    depth: 1 + (inner?.depth ?? 0),
    cost: 1 + sizeOf(field, measuring) * (inner?.cost ?? 0),
    aliases: (field.alias ? 1 : 0) + (inner?.aliases ?? 0),
  };
}

/** How many times the fields below come: `first` of a list, given or as a variable. */
function sizeOf({ name, arguments: given = [] }: FieldNode, { variables }: Measuring): number {
  const size = given.find((argument) => sizeArguments.has(argument.name.value))?.value;
  if (size?.kind === Kind.INT) return Math.max(1, Number(size.value));
  if (size?.kind === Kind.VARIABLE) {
    const value = variables[size.name.value];
    if (typeof value === 'number') return Math.max(1, value);
  }
  return lists.has(name.value) || name.value === 'searchExpenses' ? listSize : 1;
}
