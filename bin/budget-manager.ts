import { exitStatus, report } from './budget-manager/failure.ts';
import { run } from './budget-manager/run.ts';
import { guardStandardOutput } from './terminal/standard-output.ts';

guardStandardOutput('budget-manager', exitStatus(undefined));

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`budget-manager: ${report(error)}\n`);
  process.exitCode = exitStatus(error);
}
