import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Label } from '../../services/posts/sentiment/model/labels.ts';
import { labels } from '../../services/posts/sentiment/model/labels.ts';

export interface Example {
  readonly text: string;
  readonly label: number;
}

/** Lines of `label<TAB>text`. */
export function readExamples(folder: string, name: string): Example[] {
  const lines = readFileSync(join(folder, `${name}.tsv`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line, index) => {
    const tab = line.indexOf('\t');
    const label = labels.indexOf(line.slice(0, tab) as Label);
    if (label < 0) throw new Error(`${name}.tsv, line ${index + 1}: no label`);
    return { label, text: line.slice(tab + 1) };
  });
}

/** Weights that make every class count alike: the metric is recall averaged over the classes. */
export function classWeights(examples: readonly Example[]): number[] {
  const counts = labels.map((_, label) => examples.filter((example) => example.label === label).length);
  return counts.map((count) => examples.length / labels.length / count);
}

/**
 * Folds in which no topic is on both sides: texts that name the same person, show or hashtag stay together.
 * A random split would let the model meet in training what it is tested on, as the public test split does not.
 */
export function topicFolds(examples: readonly Example[], folds: number): number[] {
  const named = examples.map((example) => namesIn(example.text));
  const frequency = new Map<string, number>();
  for (const names of named) for (const name of names) frequency.set(name, (frequency.get(name) ?? 0) + 1);
  return named.map((names, index) => {
    const topic = names.reduce((a, b) => ((frequency.get(b) ?? 0) > (frequency.get(a) ?? 0) ? b : a), '');
    if ((frequency.get(topic) ?? 0) < 10) return index % folds;
    return [...topic].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7) % folds;
  });
}

function namesIn(text: string): string[] {
  const plain = text.replace(/https?:\S+|@\w+/g, ' ');
  const names = [...plain.matchAll(/(?<![.!?]\s|^)\b([A-Z][a-z]+)(?:\s+([A-Z][a-z]+))?|#(\w+)/g)]
    .flatMap(([, one, two, tag]) => [one, two, tag])
    .flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]));
  return [...new Set(names)].filter((name) => !everyday.has(name));
}

const everyday = new Set(
  `monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun tonight tomorrow today
  january february march april may june july august september october november december day night
  the this that you your and but for with what when who how why just its all not if my we it is are in on at to
  of so no he she they do can get have had will would our now new lol omg rt good`.split(/\s+/),
);
