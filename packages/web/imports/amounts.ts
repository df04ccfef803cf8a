import {
  type DecimalSign,
  decimalSignIn,
  digitsOf,
  type ParsedMoney,
  parseMoney,
  readAmount,
} from '@octavo/documents/values';

/** The way of money: it goes out or comes in. */
export type Direction = 'out' | 'in';

const words: Readonly<Record<Direction, string>> = {
  out: 'd dr db dbit deb debit debito debet debe soll s belastung lastschrift af uit ud ut cargo addebito dare obciazenie wn vydaj odchozi expense withdrawal payment 出金 支出',
  in: 'c cr cb crdt cred credit credito kredit k haben h gutschrift bij in ind abono haber accredito avere uznanie ma prijem prichozi income deposit 入金 収入',
};

const directions = new Map(
  Object.entries(words).flatMap(([direction, list]) =>
    list.split(' ').map((word) => [word, direction as Direction] as const),
  ),
);

/** The direction that a word says, such as `Af`, `Haben`, `DBIT`, `K`; undefined if it is none of them. */
export function directionOf(text: string): Direction | undefined {
  return directions.get(folded(text));
}

const wordBehind = /^(.*\d[^\p{L}\d]*)\s*\b(DR|CR|DB|D|C|S|H)\.?$/iu;

export type ReadMoney =
  | (Extract<ParsedMoney, { problem?: undefined }> & { readonly direction?: Direction | undefined })
  | { readonly problem: string };

/** An amount of a file, by the file's decimal sign, with the direction that a word behind it tells. Zeros behind the digits of the currency are nothing. */
export function readMoney(written: string, currency: string, decimal: DecimalSign): ReadMoney {
  const [, number = written, word = ''] = wordBehind.exec(written.trim()) ?? [];
  const read = readAmount(number, currency, { decimal, group: decimal === '.' ? ',' : '.' });
  if (read.problem !== undefined) return read;
  const parsed = parseMoney(withoutZeros(read.text), currency);
  return parsed.problem === undefined ? { ...parsed, direction: directionOf(word) } : parsed;
}

/** True for a text with the form of an amount, in whatever currency: digits, separators, a sign, a unit. */
export function isAmountLike(text: string): boolean {
  return (
    text.length <= 40 &&
    /^[^\p{L}\d]*(?:\p{L}{1,4}\.?)?[^\p{L}\d]*\d[\d.,'’\s]*[^\p{L}\d]*(?:\p{L}{1,4}\.?)?$/u.test(text.trim())
  );
}

function withoutZeros(text: string): string {
  return text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

/** The decimal sign of a file, from all of its amounts. */
export class DecimalSurvey {
  readonly #places: number;
  readonly #found = { '.': 0, ',': 0 };
  #unclear: string | undefined;

  constructor(currency: string) {
    this.#places = digitsOf(currency);
  }

  look(written: string): void {
    const sign = decimalSignIn(written, this.#places);
    if (sign === undefined) return;
    if (sign !== 'either') this.#found[sign]++;
    // Digits that the currency does not have make it a sign of thousands.
    else if (withoutZeros(`.${lastDigits(written)}`).length - 1 > this.#places)
      this.#found[/[.,](?=\d*\D*$)/.exec(written)?.[0] === '.' ? ',' : '.']++;
    else this.#unclear ??= written.trim();
  }

  /** The sign, or an amount that could mean two things. */
  end(): { readonly decimal: DecimalSign; readonly unclear?: string | undefined } {
    const decimal = this.#found[','] > this.#found['.'] ? ',' : '.';
    const isClear = (this.#found['.'] === 0) !== (this.#found[','] === 0);
    return { decimal, unclear: isClear ? undefined : this.#unclear };
  }
}

function lastDigits(written: string): string {
  return /(\d*)\D*$/.exec(written)?.[1] ?? '';
}

/** A text as names are compared: without accents, signs and case. */
export function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}]/gu, '');
}
