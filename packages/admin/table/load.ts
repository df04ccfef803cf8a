import type { Session } from '@octavo/data';
import type { AdminTables } from '../changes/history.ts';
import type { Value, Values } from '../field.ts';
import type { TableModel } from '../model.ts';
import { columnOf, type Registry } from '../registry.ts';
import { dynamic, keyCondition, selectFields, toValues } from './query.ts';
import type { Loaded } from './versions.ts';

/** Most inline children shown and edited with their parent. */
export const childrenMax = 200;

/** An object with its sets and its inline children. `forUpdate` keeps others from changing it until the transaction ends. */
export async function loadObject(
  registry: Registry,
  model: TableModel,
  id: string,
  { session, forUpdate = false }: { session: Session<AdminTables>; forUpdate?: boolean },
): Promise<Loaded | undefined> {
  const found = selectFields(dynamic(session), model).where(keyCondition(model, [id]));
  const locked = forUpdate && session.dialect === 'postgres' ? found.forUpdate() : found;
  const row = await locked.executeTakeFirst();
  if (!row) return undefined;
  const values = { ...toValues(row), ...(await loadSets(model, id, session)) };
  return { values, children: await loadChildren(registry, model, values, session) };
}

async function loadSets(model: TableModel, id: string, session: Session<AdminTables>): Promise<Values> {
  const sets: Record<string, readonly string[]> = {};
  for (const [name, set] of Object.entries(model.sets ?? {}))
    sets[name] = [...(await set.load(session, id))].sort();
  return sets;
}

async function loadChildren(
  registry: Registry,
  model: TableModel,
  values: Values,
  session: Session<AdminTables>,
): Promise<Record<string, readonly Values[]>> {
  const children: Record<string, readonly Values[]> = {};
  for (const { inline, model: child } of registry.inlinesOf(model)) {
    const rows = await selectFields(dynamic(session), child)
      .where(`${child.table}.${columnOf(child, inline.parent)}`, '=', values[model.key] as Value)
      .orderBy(`${child.table}.${columnOf(child, child.key)}`)
      .limit(childrenMax)
      .execute();
    children[inline.model] = rows.map(toValues);
  }
  return children;
}
