import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readConfig } from '#kit/config.ts';
import { AppError } from '#kit/errors.ts';
import { authz, runPolicyTests } from '../../services/authz/service.ts';

export async function run(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [verb, file] = positionals;
  if (verb !== 'test' || !file) throw new AppError('invalid_input', 'usage: octavo policy test FILE');
  const { AUTHZ_POLICIES: folder } = readConfig(authz.settings, process.env);
  const { passed, failures, uncovered } = await runPolicyTests(await readCases(file), folder);
  for (const failure of failures) process.stdout.write(`${failure}\n`);
  process.stdout.write(
    `${passed} cases as expected, ${failures.length} not; ${uncovered} combinations without a case\n`,
  );
  return failures.length > 0 ? 1 : 0;
}

async function readCases(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('invalid_input', `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
