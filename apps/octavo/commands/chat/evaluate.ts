import { parseArgs } from 'node:util';
import { evaluateSet, type StrategyScores } from '@octavo/chat';
import { AppError } from '@octavo/core';
import { contextFor } from '../../system.ts';

const namesShown = 20;

/** Runs `octavo chat eval`. */
export async function evaluate(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      rerank: { type: 'boolean', default: false },
    },
  });
  const [path, ...rest] = positionals;
  if (path === undefined || rest.length > 0)
    throw new AppError('invalid_input', 'octavo chat eval needs a folder, or a file of questions');
  const environment = { LOG_LEVEL: 'warn', ...process.env };
  let rated = '';
  const results = await evaluateSet(environment, contextFor('chat', { environment }), path, {
    hasCrossEncoder: values.rerank,
    onMissing: warnOfMissing,
    onRatings: ({ up, down }) => {
      if (up + down > 0) rated = `Ratings of answers: ${up} up, ${down} down.\n`;
    },
  });
  const shown = values.json ? `${JSON.stringify(results, null, 2)}\n` : `${tableOf(results)}${rated}`;
  process.stdout.write(shown);
  return 0;
}

function warnOfMissing(names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = names.slice(0, namesShown).join(', ');
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : '';
  const what = names.length === 1 ? 'a document is' : `${names.length} documents are`;
  process.stderr.write(`octavo: ${what} not in the library, so never found: ${shown}${more}\n`);
}

function tableOf(results: readonly StrategyScores[]): string {
  const header = [
    'strategy',
    'reranked',
    'nDCG@10',
    'MRR@3',
    'recall@10',
    'answered',
    'refused',
    'right',
    'queries/s',
  ];
  const rows = results.map((result) => [
    ...[result.strategy, result.reranked ? 'yes' : 'no'],
    ...[result.ndcgAt10, result.mrrAt3, result.recallAt10].map((score) => score.toFixed(3)),
    ...[result.answered, result.refused].map(String),
    // For sets that name the right answers.
    result.judged === 0 ? '-' : `${result.right}/${result.judged}`,
    result.queriesPerSecond.toFixed(0),
  ]);
  const lines = [header, ...rows].map((row) =>
    row
      .map((cell) => cell.padEnd(12))
      .join('')
      .trimEnd(),
  );
  const fellBack = Math.max(0, ...results.map((result) => result.fellBack));
  const note =
    fellBack > 0
      ? `${fellBack} questions were searched or ordered without the embedding service or the reranker.\n`
      : '';
  return `${results[0]?.questions ?? 0} questions\n${lines.join('\n')}\n${note}`;
}
