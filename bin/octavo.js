#!/usr/bin/env -S node --max-semi-space-size=8
// A young generation of half the usual size costs no speed that can be measured, and each thread takes 25 MB less under load.
//
// Plain JavaScript, so that the cache is on before the first TypeScript is read: with its types removed and compiled, each file is kept
// beside the packages, where nobody writes who may not change the code, and starts take half the time and 25 MB less.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/node'));
await import('./octavo.ts');
