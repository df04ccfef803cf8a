import { exitStatus, report } from './budget-manager/failure.ts';
import { run } from './budget-manager/run.ts';

// The reader of a pipe may stop early, as in `budget-manager list-budgets | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`budget-manager: ${report(error)}\n`);
  process.exitCode = exitStatus(error);
}
