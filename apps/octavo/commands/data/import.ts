import { parseArgs } from 'node:util';
import { AppError } from '@octavo/core';
import { imports } from '../../index.ts';

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      kind: { type: 'string' },
      decimal: { type: 'string' },
      replace: { type: 'boolean', default: false },
    },
  });
  const [name = '', file, ...rest] = positionals;
  const read = imports[name];
  if (!read || file === undefined || rest.length > 0)
    throw new AppError('invalid_input', `octavo import needs one of ${Object.keys(imports)}, and one file`);
  const counts = await read(process.env, file, {
    kind: values.kind,
    decimal: values.decimal,
    replaces: values.replace,
  });
  const parts = Object.entries(counts).map(([kind, count]) => `${count.toLocaleString('en')} ${kind}`);
  process.stdout.write(`${name}: ${parts.join(', ')} imported\n`);
  return 0;
}
