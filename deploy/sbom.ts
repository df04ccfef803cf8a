import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Component {
  readonly 'bom-ref': string;
}

interface Bill {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly metadata: { readonly component: Component };
}

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly name?: string; readonly version?: string; readonly dev?: boolean }>
  >;
}

/**
 * Writes the bill of materials of what runs in production, in CycloneDX, to standard output: that of npm, without the packages that
 * only development needs. `npm sbom --omit=dev` also leaves out packages that both need.
 */
function main(): void {
  const cwd = new URL('../', import.meta.url);
  const options = { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
  const bill = JSON.parse(execFileSync('npm', args, options)) as Bill;
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', cwd), 'utf8')) as LockFile;
  const shipped = shippedIn(lock);
  const isShipped = (ref: string) => shipped.has(ref) || ref === bill.metadata.component['bom-ref'];
  const dependencies = bill.dependencies
    .filter(({ ref }) => isShipped(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isShipped) }));
  const components = bill.components.filter(({ 'bom-ref': ref }) => isShipped(ref));
  process.stdout.write(`${JSON.stringify({ ...bill, components, dependencies }, undefined, 2)}\n`);
}

/** The packages of production as npm refers to them, such as `fastify@5.0.0`; an alias by its real name. */
function shippedIn({ packages }: LockFile): Set<string> {
  const entries = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  return new Set(
    entries.map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`),
  );
}

if (import.meta.main) main();
