import type { Session } from '@octavo/data';
import type { Value, Values } from '../field.ts';
import type { Model, TableModel } from '../model.ts';
import { titlesOf } from '../table/query.ts';
import { type AdminTables, type FieldChange, recorded } from './history.ts';

/** Finds the model on a table at a path. */
export type TableAt = (path: string) => TableModel | undefined;

/** Two states of an object; `before` is undefined for one that was added. */
export interface States {
  readonly before: Values | undefined;
  readonly after: Values;
}

/** Fields that changed, as texts for readers: what they refer to is named. Of an added object, empty fields are left out. */
export async function describeChanges(
  { session, tableAt }: { session: Session<AdminTables>; tableAt: TableAt },
  model: Model,
  names: readonly string[],
  { before, after }: States,
): Promise<FieldChange[]> {
  const changes: FieldChange[] = [];
  for (const name of names) {
    const field = model.fields[name];
    const set = model.kind === 'table' ? model.sets?.[name] : undefined;
    const label = field?.label ?? set?.label ?? name;
    if (field?.isSecret) {
      changes.push({ label, to: 'changed' });
      continue;
    }
    const values = [before?.[name] ?? null, after[name] ?? null] as const;
    const control = field?.control;
    const other = control?.type === 'reference' ? tableAt(control.model) : undefined;
    const titles = other
      ? await titlesOf(session, other, values)
      : new Map<string, string>(set && (await set.choices(session)));
    const text = (value: Value) =>
      [value]
        .flat()
        .map((each) => titles.get(String(each)) ?? field?.format(each) ?? String(each ?? ''))
        .join(', ');
    const [from, to] = [recorded(text(values[0])), recorded(text(values[1]))];
    const kind = control?.type === 'datetime' ? ({ kind: 'time' } as const) : {};
    if (before) changes.push({ label, from, to, ...kind });
    else if (to !== '') changes.push({ label, to, ...kind });
  }
  return changes;
}
