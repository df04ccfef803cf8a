import { parseArgs } from 'node:util';
import { AppError } from '#kit/errors.ts';
import { evaluateSet, type StrategyScores } from '../../services/chat/service.ts';
import { contextFor } from '../../services/system.ts';

export async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  });
  const [verb, path, ...rest] = positionals;
  if (verb !== 'eval' || path === undefined || rest.length > 0)
    throw new AppError('invalid_input', 'octavo chat eval needs a folder, or a file of questions');
  const environment = { LOG_LEVEL: 'warn', ...process.env };
  const results = await evaluateSet(environment, contextFor('chat', { environment }), path);
  process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : tableOf(results));
  return 0;
}

function tableOf(results: readonly StrategyScores[]): string {
  const header = ['strategy', 'reranked', 'nDCG@10', 'MRR@3', 'recall@10', 'queries/s'];
  const rows = results.map((result) => [
    ...[result.strategy, result.reranked ? 'yes' : 'no'],
    ...[result.ndcgAt10, result.mrrAt3, result.recallAt10].map((score) => score.toFixed(3)),
    result.queriesPerSecond.toFixed(0),
  ]);
  const lines = [header, ...rows].map((row) =>
    row
      .map((cell) => cell.padEnd(12))
      .join('')
      .trimEnd(),
  );
  const fellBack = Math.max(0, ...results.map((result) => result.fellBack));
  const note = fellBack > 0 ? `${fellBack} questions were searched for by their words only.\n` : '';
  return `${results[0]?.questions ?? 0} questions\n${lines.join('\n')}\n${note}`;
}
