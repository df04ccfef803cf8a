import { AppError } from '@octavo/core';

export async function run([verb, ...args]: string[]): Promise<number> {
  if (verb === 'eval') return (await import('./evaluate.ts')).evaluate(args);
  if (verb === 'sync') return (await import('./sync.ts')).sync(args);
  throw new AppError('invalid_input', 'octavo chat needs eval or sync');
}
