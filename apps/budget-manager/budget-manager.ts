import { guardStandardOutput } from '@octavo/octavo/terminal/standard-output';
import { exitStatus, report } from './failure.ts';
import { run } from './run.ts';

guardStandardOutput('budget-manager', exitStatus(undefined));

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`budget-manager: ${report(error)}\n`);
  process.exitCode = exitStatus(error);
}
