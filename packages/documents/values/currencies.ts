/** Digits after the decimal point (ISO 4217, list one) of currencies that do not have two. */
const digits: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
      .split(' ')
      .map((code) => [code, 0] as const),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const)),
  CLF: 4,
  UYW: 4,
};

// ICU lists the currencies in use. Its digits are those of everyday prices, not those of ISO 4217, so they are not used.
let codes: ReadonlySet<string> | undefined;

/** The codes of all currencies, in alphabetical order. */
export function currencyCodes(): readonly string[] {
  return [...known()];
}

/** Returns true for the code of a currency (ISO 4217), in capitals. */
export function isCurrency(text: string): boolean {
  return known().has(text);
}

/** Digits after the decimal point: 2 for USD, 0 for JPY, 3 for KWD. */
export function digitsOf(currency: string): number {
  return digits[currency] ?? 2;
}

let codesBySign: Map<string, string | undefined> | undefined;

/** The currency that has this sign alone, such as EUR of `€`; undefined for the signs of several, such as `$`. */
export function currencyOf(sign: string): string | undefined {
  codesBySign ??= signs();
  return codesBySign.get(sign);
}

function signs(): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const currency of known()) {
    const format = new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
    });
    const sign = format.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? currency;
    if (sign !== currency) found.set(sign, found.has(sign) ? undefined : currency);
  }
  return found;
}

/** Signs that people and banks write beside those of `Intl`. */
const inUse: Readonly<Record<string, string>> = {
  USD: 'US$',
  CAD: 'C$',
  AUD: 'A$ AU$',
  SGD: 'S$',
  BRL: 'R$',
  INR: 'Rs',
  PKR: 'Rs',
  LKR: 'Rs',
  NPR: 'Rs',
  MUR: 'Rs',
  JPY: '円 ￥ ¥',
  CNY: '元 ￥ ¥ RMB',
  CHF: 'Fr SFr',
  SEK: 'kr',
  NOK: 'kr',
  DKK: 'kr',
  ISK: 'kr',
  PLN: 'zł',
  CZK: 'Kč',
  HUF: 'Ft',
  RON: 'lei',
  BGN: 'лв',
  RUB: 'руб р RUR',
  UAH: 'грн',
  TRY: 'TL',
  JOD: 'دينار د.أ',
  EUR: 'Euro',
};

/** The signs of a currency that `Intl` does not know, such as `kr` of SEK; a point behind them is none of theirs. */
export function signsInUse(currency: string): readonly string[] {
  return inUse[currency]?.split(' ') ?? [];
}

function known(): ReadonlySet<string> {
  codes ??= new Set([...Intl.supportedValuesOf('currency'), ...Object.keys(digits)].sort());
  return codes;
}
