import { parseArgs } from 'node:util';
import { openDatabase } from '@octavo/data';
import { databasesOf } from './databases.ts';

export async function run(args: string[]): Promise<number> {
  const { positionals: names } = parseArgs({ args, allowPositionals: true, options: {} });
  for (const options of await databasesOf(names, process.env)) {
    const database = await openDatabase(options);
    await database[Symbol.asyncDispose]();
    process.stdout.write(`${options.name.padEnd(12)} up to date (${database.dialect})\n`);
  }
  return 0;
}
