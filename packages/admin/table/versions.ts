import { createHash } from 'node:crypto';
import type { Value, Values } from '../field.ts';

/** The state of an object as a form was loaded: a short hash of each field. Inline children have the prefix `model#id.`. */
export type Versions = ReadonlyMap<string, string>;

/** A loaded object with its inline children by model. */
export interface Loaded {
  readonly values: Values;
  readonly children: Readonly<Record<string, readonly Values[]>>;
}

/** The versions of an object, of the fields that its form shows. */
export function versionsOf(
  loaded: Loaded,
  shown: {
    fields: readonly string[];
    children: Readonly<Record<string, { key: string; fields: readonly string[] }>>;
  },
): Versions {
  const versions = new Map<string, string>();
  for (const name of shown.fields) versions.set(name, hashOf(loaded.values[name] ?? null));
  for (const [model, { key, fields }] of Object.entries(shown.children))
    for (const child of loaded.children[model] ?? [])
      for (const name of fields)
        versions.set(childField(model, child[key], name), hashOf(child[name] ?? null));
  return versions;
}

/** The name of a field of an inline child. */
export function childField(model: string, id: Value | undefined, name: string): string {
  return `${model}#${id}.${name}`;
}

/** Writes versions for the hidden field of a form. */
export function formatVersions(versions: Versions): string {
  return [...versions].map(([name, hash]) => `${name}=${hash}`).join(' ');
}

/** Reads the hidden field. Unreadable entries are left out, so they count as changed. */
export function parseVersions(text: string): Versions {
  const pairs = text.split(' ').map((pair) => {
    const at = pair.lastIndexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return new Map(pairs.filter(([name]) => name !== ''));
}

/** A short hash of a value. */
export function hashOf(value: Value): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 10);
}
