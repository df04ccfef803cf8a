/**
 * Draws the packages and their arrows into docs/architecture.md, from the manifests: `npm run architecture`. A test compares it.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './check/imports.ts';

const file = join(root, 'docs/architecture.md');
const markers = ['<!-- written by npm run architecture -->', '<!-- end -->'] as const;

interface Workspace {
  readonly name: string;
  /** `packages`, `services` or `apps`. */
  readonly kind: string;
  /** Names of the workspaces that its code uses; tests may use more. */
  readonly uses: readonly string[];
  readonly doors: number;
}

/** Returns docs/architecture.md with the drawing of today. */
export function drawn(): string {
  const text = readFileSync(file, 'utf8');
  const [start, end] = markers.map((marker) => text.indexOf(marker)) as [number, number];
  return `${text.slice(0, start)}${markers[0]}\n\n${drawing(workspaces())}\n\n${text.slice(end)}`;
}

/** Returns true if the document shows what is. */
export function isDrawn(): boolean {
  return readFileSync(file, 'utf8') === drawn();
}

function workspaces(): Workspace[] {
  return globSync('{packages,services,apps}/*/package.json', { cwd: root })
    .sort()
    .map((path) => {
      const { dependencies = {}, exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
        dependencies?: object;
        exports?: object;
      };
      const uses = Object.keys(dependencies).filter((name) => name.startsWith('@octavo/'));
      return {
        name: basename(dirname(path)),
        kind: dirname(dirname(path)),
        uses: uses.map((name) => name.slice('@octavo/'.length)),
        doors: Object.keys(exports).length,
      };
    });
}

function drawing(all: readonly Workspace[]): string {
  const packages = all.filter(({ kind, name }) => kind === 'packages' && name !== 'testing');
  const services = all.filter(({ kind }) => kind === 'services');
  const apps = all.filter(({ kind }) => kind === 'apps');
  const byServices = [...new Set(services.flatMap(({ uses }) => uses))];
  const groups: readonly Pick<Workspace, 'name' | 'uses'>[] = [
    ...packages,
    { name: 'services', uses: byServices },
    { name: 'apps', uses: ['services', ...apps.flatMap(({ uses }) => uses)] },
    { name: 'proof', uses: ['apps'] },
  ];
  const arrows = groups.flatMap((from) => directUses(from, groups).map((to) => `  ${from.name} --> ${to}`));
  const rows = all.map(
    ({ kind, name, uses, doors }) =>
      `| [${kind}/${name}](../${kind}/${name}/) | ${uses.join(', ')} | ${doors} |`,
  );
  return [
    '```mermaid',
    'flowchart TD',
    ...arrows,
    '```',
    '',
    '| | uses | doors |',
    '|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Names of the packages that one uses, without those that it reaches by another. */
function directUses(
  { name, uses }: Pick<Workspace, 'name' | 'uses'>,
  groups: readonly Pick<Workspace, 'name' | 'uses'>[],
): string[] {
  const known = [...new Set(uses)].filter(
    (use) => use !== name && groups.some((group) => group.name === use),
  );
  const reached = (from: string): string[] =>
    (groups.find((group) => group.name === from)?.uses ?? []).flatMap((use) => [use, ...reached(use)]);
  return known.filter((use) => !known.some((other) => other !== use && reached(other).includes(use))).sort();
}

if (import.meta.main) writeFileSync(file, drawn());
