import type { Reading } from './convolution.ts';
import { readingOf, unknown } from './convolution.ts';
import type { Valence } from './lexicon.ts';
import { Lexicon } from './lexicon.ts';
import type { Token } from './tokens.ts';

interface Word {
  readonly id: number;
  valence: Valence | undefined;
}

/** Looks words up: their id (0 is nothing, 1 the unknown word, then as listed) and their valence. */
export class Reader {
  readonly #lexicon: Lexicon;
  readonly #words: ReadonlyMap<string, Word>;

  constructor(words: readonly string[], lexicon: ReadonlyMap<string, Valence>) {
    this.#lexicon = new Lexicon(lexicon);
    this.#words = new Map(words.map((word, index) => [word, { id: index + 2, valence: undefined }]));
  }

  read(tokens: readonly Token[]): { valences: Valence[]; readings: Reading[] } {
    const valences: Valence[] = [];
    const readings: Reading[] = [];
    for (const token of tokens) {
      const word = this.#words.get(token.text);
      const valence = word?.valence ?? this.#lexicon.valenceOf(token.text);
      if (word !== undefined) word.valence = valence;
      valences.push(valence);
      readings.push(readingOf(word?.id ?? unknown, token, valence));
    }
    return { valences, readings };
  }
}
