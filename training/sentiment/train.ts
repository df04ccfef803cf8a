import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { labels } from '../../services/posts/sentiment/model/labels.ts';
import { Ensemble, shippedWeights } from '../../services/posts/sentiment/model/model.ts';
import type { Weights } from '../../services/posts/sentiment/model/weights.ts';
import type { Example } from './corpus.ts';
import { classWeights, readExamples, topicFolds } from './corpus.ts';
import { learn } from './learn.ts';
import type { Judged } from './metrics.ts';
import { calibrationError, confusionOf, macroRecall, recalls } from './metrics.ts';
import { encodeWeights } from './weights-file.ts';

const usage = `npm run train:sentiment -- --data FOLDER [--fold 0..4]
  learns from FOLDER/train.tsv, sets the temperature on FOLDER/validation.tsv and writes the weights that posts ships.
  With --fold, it learns from four of five folds of train.tsv, scores the fifth and writes nothing.
`;

const { values } = parseArgs({ options: { data: { type: 'string' }, fold: { type: 'string' } } });
if (values.data === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else if (values.fold !== undefined) {
  crossValidate(values.data, Number(values.fold));
} else {
  train(values.data);
}

function train(folder: string): void {
  const validation = readExamples(folder, 'validation');
  const learned = learn(readExamples(folder, 'train'), say);
  const weights = { ...learned, temperature: bestTemperature(learned, validation) };
  writeFileSync(shippedWeights, encodeWeights(weights));
  say(`temperature ${weights.temperature}`);
  score('validation', weights, validation);
  score('prose', weights, readExamples(dirname(fileURLToPath(shippedWeights)), 'prose'));
}

function crossValidate(folder: string, fold: number): void {
  const examples = readExamples(folder, 'train');
  const folds = topicFolds(examples, 5);
  const weights = learn(
    examples.filter((_, index) => folds[index] !== fold),
    say,
  );
  score(
    `fold ${fold}`,
    weights,
    examples.filter((_, index) => folds[index] === fold),
  );
}

/** One number that moves no label: the one under which the truth is likeliest, every class counting alike. */
function bestTemperature(weights: Weights, examples: readonly Example[]): number {
  const temperatures = Array.from({ length: 26 }, (_, step) => (50 + 4 * step) / 100);
  const even = classWeights(examples);
  const loss = (temperature: number) =>
    judge({ ...weights, temperature }, examples)
      .map(({ truth, probabilities }) => -(even[truth] ?? 0) * Math.log(probabilities[truth] ?? 0))
      .reduce((a, b) => a + b);
  const losses = new Map(temperatures.map((temperature) => [temperature, loss(temperature)]));
  return temperatures.reduce((a, b) => ((losses.get(b) ?? 0) < (losses.get(a) ?? 0) ? b : a));
}

function judge(weights: Weights, examples: readonly Example[]): Judged[] {
  const model = new Ensemble(weights);
  return examples.map(({ text, label }) => ({
    truth: label,
    probabilities: Object.values(model.classify(text).probabilities),
  }));
}

function score(name: string, weights: Weights, examples: readonly Example[]): void {
  const judged = judge(weights, examples);
  const table = confusionOf(judged);
  say(`${name}: macro-averaged recall ${macroRecall(table).toFixed(4)} of ${examples.length} texts`);
  for (const [label, recall] of recalls(table).entries())
    say(`  ${labels[label]}: said ${table[label]?.join(' ')}, recall ${recall.toFixed(3)}`);
  say(
    `calibration error ${calibrationError(judged, classWeights(examples)).toFixed(4)}, every class counting alike;`,
  );
  say(`  ${calibrationError(judged, [1, 1, 1]).toFixed(4)} with the classes as they come`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
