/** Number in JSON that JavaScript cannot hold: `JSON.stringify` writes its text as it is. */
export interface RawJson {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/** A number by its decimal text. */
export function rawNumber(text: string): RawJson {
  return JSON.rawJSON(text);
}

/** JSON like that of `JSON.stringify`, with bigints as integers. */
export function stringifyExact(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch {
    // Bigints are rare, and a replacer costs several times as much for every value.
    return JSON.stringify(value, rawBigint, indent);
  }
}

function rawBigint(_key: string, part: unknown): unknown {
  return typeof part === 'bigint' ? rawNumber(`${part}`) : part;
}

/** Digits in a row as only long numbers have them. A text may have them too, which costs no more than the slower way to parse. */
const longNumber = /\d[\d.]{15}/;
/** Digits up to which decimal numbers are exact as printed. */
const exactDigits = 15;

/** Parses JSON without losing digits: integers above 2^53 become bigints, and other numbers of many digits {@link RawJson}. */
export function parseExact(text: string): unknown {
  return parseLong(text, BigInt);
}

/** Like {@link parseExact} for values that `JSON.stringify` writes again: long integers become {@link RawJson}, too. */
export function parseRaw(text: string): unknown {
  return parseLong(text, rawNumber);
}

/** The digits of a number that was parsed exactly. */
export function numberText(value: number | bigint | RawJson): string {
  return typeof value === 'object' ? value.rawJSON : String(value);
}

function parseLong(text: string, longInteger: (source: string) => bigint | RawJson): unknown {
  if (!longNumber.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: unknown, context?: Source) => {
    const source = context?.source;
    if (typeof value !== 'number' || source === undefined) return value;
    if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : longInteger(source);
    return source.replace(/[eE].*|\D/g, '').length <= exactDigits ? value : rawNumber(source);
  });
}

/** Third argument of a reviver, which TypeScript does not know yet. */
interface Source {
  readonly source?: string;
}
