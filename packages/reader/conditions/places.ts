import { withoutAccents } from '@octavo/core/text';
import type { QuestionWords } from './words.ts';

/** Countries of a question that are joined by "or" or "and". */
export interface Countries {
  readonly codes: readonly string[];
  readonly isNegated: boolean;
  readonly text: string;
}

/** Made at the first question: loading the names of regions takes as long as loading twenty modules. */
let regions: Intl.DisplayNames | undefined;
const otherNames: Readonly<Record<string, string>> = {
  uk: 'GB',
  britain: 'GB',
  'great britain': 'GB',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  holland: 'NL',
  usa: 'US',
  'united states of america': 'US',
  america: 'US',
  'czech republic': 'CZ',
  german: 'DE',
  french: 'FR',
  spanish: 'ES',
  italian: 'IT',
  british: 'GB',
  english: 'GB',
  scottish: 'GB',
  irish: 'IE',
  dutch: 'NL',
  belgian: 'BE',
  swiss: 'CH',
  austrian: 'AT',
  danish: 'DK',
  swedish: 'SE',
  norwegian: 'NO',
  finnish: 'FI',
  icelandic: 'IS',
  polish: 'PL',
  portuguese: 'PT',
  greek: 'GR',
  czech: 'CZ',
  hungarian: 'HU',
  romanian: 'RO',
  estonian: 'EE',
  latvian: 'LV',
  lithuanian: 'LT',
  turkish: 'TR',
  ukrainian: 'UA',
  american: 'US',
  canadian: 'CA',
  mexican: 'MX',
  brazilian: 'BR',
  indian: 'IN',
  chinese: 'CN',
  japanese: 'JP',
  korean: 'KR',
  australian: 'AU',
  israeli: 'IL',
};
const eu = 'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE'.split(' ');
const groups: Readonly<Record<string, readonly string[]>> = {
  eu,
  'european union': eu,
  europe: [...eu, ...'GB CH NO IS UA AL AD BA BY LI MC MD ME MK RS SM XK'.split(' ')],
  scandinavia: ['DK', 'NO', 'SE'],
  'nordic countries': ['DK', 'NO', 'SE', 'FI', 'IS'],
  nordics: ['DK', 'NO', 'SE', 'FI', 'IS'],
  nordic: ['DK', 'NO', 'SE', 'FI', 'IS'],
  benelux: ['BE', 'NL', 'LU'],
};
/** Codes that are no countries. */
const noCountries = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);
let known: ReadonlyMap<string, readonly string[]> | undefined;

/** The name of a country by its code; the code itself if it has none. */
export function countryName(code: string): string {
  return (/^[A-Z]{2}$/.test(code) && regionName(code)) || code;
}

function regionName(code: string): string | undefined {
  regions ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  return regions.of(code);
}

/** The countries of a question by their names, adjectives and codes. */
export function countriesOf(words: QuestionWords): Countries[] {
  known ??= countryWords();
  const names = [...known.keys()].sort((one, other) => other.length - one.length);
  const preposition = '(?:(?:based |located )?(?:in|from|of) )?(?:the )?';
  const matches = words.take(new RegExp(`${preposition}(${names.join('|')})`), ({ next, groups: [name] }) =>
    // "It" and "no" are words; "US" is a country in capitals only.
    isWritten(words.writtenAt(next - 1), name ?? ''),
  );
  const found: { codes: string[]; isNegated: boolean; text: string; next: number }[] = [];
  for (const { groups: matched, text, first, next } of matches) {
    const [name = ''] = matched;
    const codes = known.get(name) ?? [];
    const last = found.at(-1);
    if (last && words.isJoined(last.next, first)) {
      words.use(last.next, first);
      last.codes.push(...codes);
      last.text += ` or ${text.replace(/^(?:in|from|of) /i, '')}`;
      last.next = next;
    } else found.push({ codes: [...codes], isNegated: words.takeNegation(first), text, next });
  }
  return found.map(({ codes, isNegated, text }) => ({ codes, isNegated, text }));
}

function isWritten(written: string, name: string): boolean {
  return !/^[a-z]{2}$/.test(name) || (written === written.toUpperCase() && /^[A-Z]{2}$/.test(written));
}

function countryWords(): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>(Object.entries(groups));
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  for (const code of letters.flatMap((one) => letters.map((other) => one + other))) {
    // Codes that are no longer used stand for others.
    const isCurrent = new Intl.Locale(`und-${code}`).region === code;
    const name = isCurrent && !noCountries.has(code) ? regionName(code) : undefined;
    if (!name) continue;
    found.set(code.toLowerCase(), [code]);
    const folded = withoutAccents(name)
      .toLowerCase()
      .replace(/['’]/g, '')
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
    if (!found.has(folded)) found.set(folded, [code]);
  }
  for (const [name, code] of Object.entries(otherNames)) found.set(name, [code]);
  return found;
}
