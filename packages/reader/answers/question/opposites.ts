/** Pairs of patterns for words that exclude each other. */
const pairs: readonly (readonly [RegExp, RegExp])[] = [
  [
    /(?:max|Max|MAX)(?:imum|imal|imally)?(?![a-z])|\b(?:largest|biggest|longest|highest|most|upper)\b/,
    /(?<![a-z])(?:min|Min|MIN)(?:imum|imal|imally)?(?![a-z])|\b(?:smallest|shortest|lowest|least|fewest|lower)\b/,
  ],
  [/\b(?:man|men|male|boys?|father|husband|he)\b/i, /\b(?:woman|women|female|girls?|mother|wife|she)\b/i],
];

/** Returns true if a text says the opposite of a word of a question, and not the word: `minChunkSize` for the largest chunk. */
export function isOpposite(question: string, text: string): boolean {
  return pairs.some(([one, other]) => lacks(one, other, question, text) || lacks(other, one, question, text));
}

function lacks(asked: RegExp, opposite: RegExp, question: string, text: string): boolean {
  return asked.test(question) && !opposite.test(question) && opposite.test(text) && !asked.test(text);
}
