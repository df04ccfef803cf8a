// Removes from installed packages what only development reads: type declarations, source maps, TypeScript sources beside their builds, the
// C++ headers of Node, and builds for other module systems. It takes a third of the size. Runs after `npm ci --omit=dev`, and for the container image.
//
// Plain JavaScript, because npm may run it with any Node >= 20.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** We load Cedar's build for Node, write TypeScript but compile none, and compile no add-ons. Node reads no TypeScript of packages. */
const unused = [
  /\.(map|d\.[cm]?ts)$/,
  /^node-(bin-)?(linux|darwin|win)[^/]*\/include\//,
  /^(ai|rxjs|zod)\/src\//,
  /^@cedar-policy\/cedar-wasm\/(esm|web)\//,
  /^@typescript\/old\/lib\/(?!typescript\.js$)/,
];

/**
 * Returns true if production does without a file.
 * @param {string} path below `node_modules`
 */
export function isUnused(path) {
  return unused.some((pattern) => pattern.test(path.replaceAll('\\', '/')));
}

/**
 * Removes the C++ headers of Node, 67 MB, which nobody needs without add-ons to compile.
 * @param {string} packages such as `node_modules`
 */
export function dropHeaders(packages) {
  for (const name of readdirSync(packages)) {
    if (isUnused(`${name}/include/`))
      rmSync(join(packages, name, 'include'), { recursive: true, force: true });
  }
}

/**
 * Prunes a folder of packages.
 * @param {string} packages such as `node_modules`
 */
export function prune(packages) {
  for (const entry of readdirSync(packages, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && isUnused(relative(packages, path))) rmSync(path);
  }
}

/**
 * Returns true if the packages for development were left out.
 * @param {string} packages
 */
export function isForProduction(packages) {
  return !existsSync(join(packages, '@biomejs'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prune(process.argv[2] ?? 'node_modules');
