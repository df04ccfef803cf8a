/** A transaction on lists that only grow, as its client saw it. */
export interface ListTransaction {
  readonly name: string;
  /** Unknown: it may have taken effect or not, at any time after its call. Failed: it had none. */
  readonly outcome: 'ok' | 'unknown' | 'failed';
  readonly invokedAt: number;
  readonly returnedAt: number;
  readonly steps: readonly ListStep[];
}

export type ListStep =
  | { readonly list: string; readonly append: string }
  | { readonly list: string; readonly read: readonly string[] };

/** Dependency of a transaction on an earlier one: it appended after it, read it, was not read by it, or came later in real time. */
type Kind = 'ww' | 'wr' | 'rw' | 'rt';

/**
 * Finds what cannot happen if transactions take effect one after another, each between its call and its return (strict
 * serializability), and describes it. This is the idea of Elle for list-append histories (Kingsbury and Alvaro, "Elle: inferring
 * isolation anomalies from experimental observations", VLDB 2020): each element is appended once, so that a list that was read tells
 * the order of the writes before it; dependencies follow from these orders, and a cycle of them is an anomaly, named after Adya.
 */
export function listAnomalies(history: readonly ListTransaction[]): string[] {
  const lists = new Map<string, string[]>();
  const problems = [...findDirtyReads(history), ...orderLists(history, lists)];
  if (problems.length > 0) return problems;
  return findCycle(dependenciesOf(history, lists), history);
}

const keyOf = (list: string, element: string) => JSON.stringify([list, element]);

/** Elements that no client appended, that a failed transaction appended (G1a), or that are there twice. */
function findDirtyReads(history: readonly ListTransaction[]): string[] {
  const writers = writersOf(history);
  const problems: string[] = [];
  for (const { name, outcome, steps } of history) {
    if (outcome !== 'ok') continue;
    for (const step of steps) {
      if (!('read' in step)) continue;
      const seen = new Set<string>();
      for (const element of step.read) {
        const writer = writers.get(keyOf(step.list, element));
        const what = `${name} read ${element} in ${step.list}`;
        if (!writer) problems.push(`${what}, which no client appended`);
        else if (history[writer.index]?.outcome === 'failed') problems.push(`${what}, which failed (G1a)`);
        if (seen.has(element)) problems.push(`${what} twice`);
        seen.add(element);
      }
    }
  }
  return problems;
}

function writersOf(history: readonly ListTransaction[]): Map<string, { list: string; index: number }> {
  const writers = new Map<string, { list: string; index: number }>();
  for (const [index, { steps }] of history.entries())
    for (const step of steps)
      if ('append' in step) writers.set(keyOf(step.list, step.append), { list: step.list, index });
  return writers;
}

/** The longest state of each list that was read. All other reads must be its beginnings. */
function orderLists(history: readonly ListTransaction[], lists: Map<string, string[]>): string[] {
  const reads = history.flatMap(({ name, outcome, steps }) =>
    outcome === 'ok' ? steps.flatMap((step) => ('read' in step ? [{ name, ...step }] : [])) : [],
  );
  for (const { list, read } of reads)
    if (read.length > (lists.get(list)?.length ?? -1)) lists.set(list, [...read]);
  const contradictions = reads
    .filter(({ list, read }) => read.some((element, index) => lists.get(list)?.[index] !== element))
    .map(({ name, list }) => `${name} read ${list} in an order that contradicts another read`);
  return [...contradictions, ...history.filter((one) => isReordered(one, lists)).map(reordered)];
}

/** True if appends of one transaction to one list were read in another order than its own. */
function isReordered({ steps }: ListTransaction, lists: ReadonlyMap<string, readonly string[]>): boolean {
  const last = new Map<string, number>();
  return steps.some((step) => {
    if (!('append' in step)) return false;
    const position = lists.get(step.list)?.indexOf(step.append) ?? -1;
    if (position < 0) return false;
    const isBefore = position < (last.get(step.list) ?? 0);
    last.set(step.list, position);
    return isBefore;
  });
}

function reordered({ name }: ListTransaction): string {
  return `${name} was read in another order than it appended`;
}

type Graph = Map<number, Map<number, Kind>>;

/** Edges from each transaction to those that must come later. Indexes beyond the history stand for moments between transactions. */
function dependenciesOf(
  history: readonly ListTransaction[],
  lists: ReadonlyMap<string, readonly string[]>,
): Graph {
  const graph: Graph = new Map();
  const add = (from: number | undefined, to: number | undefined, kind: Kind) => {
    if (from === undefined || to === undefined || from === to) return;
    const edges = graph.get(from) ?? new Map<number, Kind>();
    if (!edges.has(to)) edges.set(to, kind);
    graph.set(from, edges);
  };
  const writers = writersOf(history);
  const writerAt = (list: string, index: number) => {
    const element = lists.get(list)?.[index];
    return element === undefined ? undefined : writers.get(keyOf(list, element))?.index;
  };
  for (const [list, elements] of lists)
    for (const index of elements.keys()) add(writerAt(list, index - 1), writerAt(list, index), 'ww');
  // Acknowledged elements that no read has seen come after all that were seen.
  const unseen = [...writers].filter(
    ([key, { list, index }]) =>
      history[index]?.outcome === 'ok' && !lists.get(list)?.some((element) => keyOf(list, element) === key),
  );
  for (const [reader, { outcome, steps }] of history.entries()) {
    if (outcome !== 'ok') continue;
    for (const step of steps) {
      if (!('read' in step)) continue;
      add(writerAt(step.list, step.read.length - 1), reader, 'wr');
      add(reader, writerAt(step.list, step.read.length), 'rw');
      for (const [, { list, index }] of unseen) if (list === step.list) add(reader, index, 'rw');
    }
  }
  addRealTime(history, add);
  return graph;
}

/** A chain of moments, one after each return, keeps the number of edges small. */
function addRealTime(
  history: readonly ListTransaction[],
  add: (from: number, to: number, kind: Kind) => void,
): void {
  const ended = [...history.entries()]
    .filter(([, { outcome }]) => outcome === 'ok')
    .sort(([, one], [, other]) => one.returnedAt - other.returnedAt);
  for (const [moment, [index]] of ended.entries()) {
    add(index, history.length + moment, 'rt');
    if (moment > 0) add(history.length + moment - 1, history.length + moment, 'rt');
  }
  for (const [index, { outcome, invokedAt }] of history.entries()) {
    if (outcome === 'failed') continue;
    const before = ended.filter(([, { returnedAt }]) => returnedAt < invokedAt).length;
    if (before > 0) add(history.length + before - 1, index, 'rt');
  }
}

/** The shortest cycle through any transaction, described. */
function findCycle(graph: Graph, history: readonly ListTransaction[]): string[] {
  let shortest: readonly number[] | undefined;
  for (const start of history.keys()) {
    const cycle = cycleThrough(graph, start);
    if (cycle && cycle.length < (shortest?.length ?? Number.POSITIVE_INFINITY)) shortest = cycle;
  }
  return shortest ? [describeCycle(graph, shortest, history)] : [];
}

function cycleThrough(graph: Graph, start: number): number[] | undefined {
  const cameFrom = new Map<number, number>();
  const queue = [start];
  for (const node of queue) {
    for (const next of graph.get(node)?.keys() ?? []) {
      if (next === start) {
        const cycle = [node];
        for (let at = node; at !== start; ) {
          at = cameFrom.get(at) as number;
          cycle.unshift(at);
        }
        return cycle;
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      queue.push(next);
    }
  }
  return undefined;
}

function describeCycle(graph: Graph, cycle: readonly number[], history: readonly ListTransaction[]): string {
  const kinds = cycle.map((node, index) => graph.get(node)?.get(cycle[(index + 1) % cycle.length] as number));
  const rw = kinds.filter((kind) => kind === 'rw').length;
  const name = rw > 1 ? 'G2' : rw === 1 ? 'G-single' : kinds.includes('wr') ? 'G1c' : 'G0';
  const path = cycle
    .map((node, index) => (node < history.length ? `${history[node]?.name} -${kinds[index]}-> ` : ''))
    .join('');
  return `${name}${kinds.includes('rt') ? '-realtime' : ''}: ${path}${history[cycle[0] as number]?.name}`;
}
