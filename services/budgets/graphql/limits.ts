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

/** Assumed length of a list without an argument `first`. */
const listSize = 20;
/** Fields that return lists, with their default lengths. `expenses` of a search returns `size` items. */
const lists = new Set(['budgets', 'expenses', 'notifications']);
const searchField = 'searchExpenses';

interface Measure {
  readonly depth: number;
  readonly cost: number;
  readonly aliases: number;
}

interface Measuring {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Cost of a fragment, measured once. */
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

/** `size` is that of the search whose fields these are; undefined elsewhere. */
function measure({ selections }: SelectionSetNode, measuring: Measuring, size?: number): Measure {
  const parts = selections.map((selection) => {
    if (selection.kind === Kind.FIELD) return measureField(selection, measuring, size);
    if (selection.kind === Kind.INLINE_FRAGMENT) return measure(selection.selectionSet, measuring, size);
    return measureFragment(selection.name.value, measuring, size);
  });
  return {
    depth: Math.max(0, ...parts.map(({ depth }) => depth)),
    cost: parts.reduce((sum, { cost }) => sum + cost, 0),
    aliases: parts.reduce((sum, { aliases }) => sum + aliases, 0),
  };
}

function measureFragment(name: string, measuring: Measuring, size?: number): Measure {
  const key = `${name} ${size}`;
  const known = measuring.known.get(key);
  if (known) return known;
  const fragment = measuring.fragments.get(name);
  const measured = fragment
    ? measure(fragment.selectionSet, measuring, size)
    : { depth: 0, cost: 0, aliases: 0 };
  measuring.known.set(key, measured);
  return measured;
}

function measureField(field: FieldNode, measuring: Measuring, size?: number): Measure {
  const name = field.name.value;
  if (name.startsWith('__')) return { depth: 0, cost: 0, aliases: 0 };
  const isSearch = name === searchField;
  const own = isSearch ? sizeOf(field, 'size', measuring) : undefined;
  const inner = field.selectionSet && measure(field.selectionSet, measuring, own);
  const times = isSearch
    ? 1
    : size !== undefined && name === 'expenses'
      ? size
      : sizeOf(field, 'first', measuring);
  return {
    depth: 1 + (inner?.depth ?? 0),
    cost: 1 + times * (inner?.cost ?? 0),
    aliases: (field.alias ? 1 : 0) + (inner?.aliases ?? 0),
  };
}

/** Number of times the fields below come: the size of a list, given or as a variable. */
function sizeOf(
  { name, arguments: given = [] }: FieldNode,
  sizeArgument: 'first' | 'size',
  { variables }: Measuring,
): number {
  const size = given.find((argument) => argument.name.value === sizeArgument)?.value;
  if (size?.kind === Kind.INT) return Math.max(1, Number(size.value));
  if (size?.kind === Kind.VARIABLE) {
    const value = variables[size.name.value];
    if (typeof value === 'number') return Math.max(1, value);
  }
  return sizeArgument === 'size' || lists.has(name.value) ? listSize : 1;
}
