import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { Rule } from './list.ts';

/** Asks the questions of all sets with some rules switched off: their code is replaced as its module is loaded. */
const { off, libraries } = workerData as { off: readonly Rule[]; libraries: string };
const found = new Set<Rule>();
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const own = off.filter(({ file }) => url.endsWith(`/${file}`));
    if (own.length === 0) return loaded;
    let source = String(loaded.source);
    for (const rule of own) {
      if (source.includes(rule.code)) found.add(rule);
      source = source.replace(rule.code, () => rule.without);
    }
    return { ...loaded, source };
  },
});
const { countAnswers } = await import('./count.ts');
const lost = off.find((rule) => !found.has(rule));
if (lost) throw new Error(`${lost.file} does not have the code of the rule “${lost.name}”`);
parentPort?.postMessage(await countAnswers(libraries));
