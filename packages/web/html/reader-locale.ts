import { AsyncLocalStorage } from 'node:async_hooks';
import type { DecimalSign, Reading } from '@octavo/documents/values';

const current = new AsyncLocalStorage<string | undefined>();
const headerCharactersMax = 500;

/**
 * Locale of the reader of the current page: the first of the browser's languages that `Intl` supports. Undefined outside of
 * `servePages` with `readerLocale`, and for clients that name none.
 */
export function readerLocale(): string | undefined {
  return current.getStore();
}

/** Runs the work with the locale of an `Accept-Language` header. */
export function withReaderLocale<T>(acceptLanguage: string | undefined, work: () => T): T {
  return current.run(localeOf(acceptLanguage), work);
}

/** The first supported language of an `Accept-Language` header, with Latin digits and the Gregorian calendar. */
export function localeOf(acceptLanguage = ''): string | undefined {
  const wanted = acceptLanguage
    .slice(0, headerCharactersMax)
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { tag, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality);
  for (const { tag } of wanted) {
    const plain = plainTag(tag);
    if (plain !== undefined) return plain;
  }
  return undefined;
}

/** Language, script and region alone, so that no header gives more locales than there are. */
function plainTag(tag: string): string | undefined {
  if (!/^[a-z]{2,3}(-[a-z]{4})?(-[a-z]{2}|-\d{3})?(-|$)/i.test(tag)) return undefined;
  try {
    const { language, script, region } = new Intl.Locale(tag);
    const [supported] = Intl.NumberFormat.supportedLocalesOf(
      new Intl.Locale(language, { ...(script && { script }), ...(region && { region }) }).baseName,
    );
    return supported && `${supported}-u-ca-gregory-nu-latn`;
  } catch {
    return undefined;
  }
}

const formatsMax = 1_000;

/** Memoizes a function by its key, such as expensive formats of `Intl`. Keys come from readers, so few are kept. */
export function kept<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    if (made.size >= formatsMax) made.clear();
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/** The signs of a locale's numbers: how its readers mean `1,234`. */
export const signsOf = kept((locale): Reading & { readonly decimal: DecimalSign } => {
  const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.5);
  const signOf = (type: 'decimal' | 'group') => parts.find((part) => part.type === type)?.value;
  const group = signOf('group');
  return {
    decimal: signOf('decimal') === ',' ? ',' : '.',
    group: group === '.' || group === ',' ? group : undefined,
  };
});
