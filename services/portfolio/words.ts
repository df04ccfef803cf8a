import { withoutAccents } from '@octavo/core/text';

/** A text as it is compared: its words without case and accents, each between spaces. */
export function wordsOf(...texts: readonly string[]): string {
  const words = texts.flatMap((text) => [...tokensOf(text), ...partsOf(text)]);
  return ` ${[...new Set(words)].join(' ')} `;
}

/** The columns of words of each record, by which lists are searched. */
export const wordColumns = {
  team: ({ name, role, title, location, bio }: Texts<'name' | 'role' | 'title' | 'location' | 'bio'>) => ({
    name_words: wordsOf(name),
    role_words: wordsOf(role, title),
    location_words: wordsOf(location),
    all_words: wordsOf(name, role, title, location, bio),
  }),
  sectors: ({ name, description }: Texts<'name' | 'description'>) => ({
    name_words: wordsOf(name),
    all_words: wordsOf(name, description),
  }),
  investments: ({
    company,
    stage,
    country,
    description,
  }: Texts<'company' | 'stage' | 'country' | 'description'>) => {
    const region = regionOf(country);
    return {
      company_words: wordsOf(company),
      stage_words: wordsOf(stage.replaceAll('_', ' ')),
      country_words: wordsOf(country, region ?? ''),
      all_words: wordsOf(company, description, country, region ?? ''),
    };
  },
};

type Texts<K extends string> = { readonly [name in K]: string };
const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** The name of a country by its code; undefined for other texts. */
export function regionOf(country: string): string | undefined {
  return /^[A-Z]{2}$/.test(country) ? regionNames.of(country) : undefined;
}

/** The words of a query; each must begin a word of the text. Signs such as `%` count as they are. */
export function tokensOf(text: string): string[] {
  return withoutAccents(text)
    .replace(/[.'’‘`]/g, '')
    .split(/[\s\p{Pd},;:/()"“”]+/u)
    .filter((word) => word !== '');
}

/** A name as it is compared with another. */
export function foldedName(name: string): string {
  return withoutAccents(name).replace(/\s+/g, ' ').trim();
}

/** A short name for addresses: `Zoë O’Brien` becomes `zoe-obrien`; empty for a text without letters and digits. */
export function slugOf(text: string): string {
  return withoutAccents(text)
    .replace(/[.'’‘`]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, slugLengthMax)
    .replace(/-+$/, '');
}

export const slugLengthMax = 80;

/** `O’Brien` is found by `obrien` and by `brien`, `Jean-Luc` by `luc` and by `jeanluc`. */
function partsOf(text: string): string[] {
  const plain = withoutAccents(text);
  const joined = plain.split(/\s+/).map((word) => word.replace(/[.'’‘`\p{Pd}]/gu, ''));
  return [...plain.split(/[\s.'’‘`\p{Pd},;:/()"“”]+/u), ...joined].filter((word) => word !== '');
}
