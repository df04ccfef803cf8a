#!/usr/bin/env -S node --max-semi-space-size=8
// A young generation of half the default size has no measurable cost in speed, and each thread uses 25 MB less under load.
//
// Plain JavaScript, so that the compile cache is on before the first TypeScript file is read. With the cache, a start takes half the
// time and 25 MB less. It is stored beside the packages, which only those who can change the code can write to.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/node'));
await import('./octavo.ts');
