import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from '@octavo/testing';

/** The release before this program: version 0.2.0 of CHANGELOG.md. By its hash, since copies of the repository may lack tags. */
const lastRelease = '8b4ec84';

const root = join(import.meta.dirname, '../..');

/** A copy of the last release that runs with the packages of this one, or why there is none: `{ skip }`. */
export type LastRelease =
  | { readonly root: string; readonly skip: false }
  | { readonly root: undefined; readonly skip: string };

/** Unpacks the last release from the history of the repository. Without that history, as in a shallow clone, tests are skipped. */
export function unpackLastRelease(): LastRelease {
  const git = (args: readonly string[]) => spawnSync('git', args, { cwd: root, maxBuffer: 256 * 1024 ** 2 });
  if (!existsSync(join(root, '.git')) || git(['cat-file', '-e', `${lastRelease}^{commit}`]).status !== 0)
    return { root: undefined, skip: `no history with ${lastRelease}, the last release: clone it in full` };
  const folder = testFolder('last-release');
  // Pictures, tests and documents are left out.
  const parts = ['bin', 'kit', 'proto', 'services', 'package.json'];
  const { stdout } = git(['archive', lastRelease, ...parts]);
  execFileSync('tar', ['-x', '-C', folder], { input: stdout });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  // That release starts at another place than this one.
  mkdirSync(join(folder, 'apps/octavo'), { recursive: true });
  writeFileSync(join(folder, 'apps/octavo/octavo.js'), "import '../../bin/octavo.js';\n");
  return { root: folder, skip: false };
}
