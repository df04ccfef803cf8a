/** Numbers of JSON that JavaScript writes in another way than the body did: their texts by the object or array that holds them. */
const textsByHolder = new WeakMap<object, Map<string, string>>();

/** A number with a fraction, an exponent or more digits than are exact. In a text it costs time, but changes nothing. */
const mayDiffer = /(?:^|[[:,])\s*-?(?:\d{16}|\d+[eE.])/;

type Reviver = (this: object, key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** A reviver for `JSON.parse` that keeps how numbers of this JSON were written; undefined if `String` writes all in this way. */
export function numberReviver(json: string): Reviver | undefined {
  return mayDiffer.test(json) ? keepNumberText : undefined;
}

/** A value of a body; a number as it was written where `isText`, or where it is a whole number that JavaScript cannot hold. */
export function exactValue(holder: object, name: string, isText: boolean): unknown {
  const value = (holder as Readonly<Record<string, unknown>>)[name];
  const text = typeof value === 'number' ? textsByHolder.get(holder)?.get(name) : undefined;
  return text !== undefined && (isText || /^-?\d+$/.test(text)) ? text : value;
}

/** The text of a number whose value JavaScript cannot hold, such as `1e-400`; any other value as it is. */
export function textIfInexact(holder: object, name: string, value: unknown): unknown {
  const text = typeof value === 'number' ? textsByHolder.get(holder)?.get(name) : undefined;
  return text === undefined || plainDecimal(text) === plainDecimal(String(value)) ? value : text;
}

/** Replaces the numbers in a value of a body by {@link textIfInexact}, except those that are nested deeper than any body. */
export function replaceInexact(value: object, depth = 0): void {
  if (depth > 100) return;
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) replaceInexact(inner, depth + 1);
    else if (typeof inner === 'number') Object.assign(value, { [name]: textIfInexact(value, name, inner) });
  }
}

/** One text for all texts of a decimal number: its digits without zeros around them, and an exponent. */
function plainDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [text, text];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  let { length } = digits;
  while (digits[length - 1] === '0') length--;
  if (length === 0) return whole === '' ? text : '0';
  return `${sign}${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`;
}

/** The reviver of {@link numberReviver}, for any JSON. */
export function keepNumberText(
  this: object,
  key: string,
  value: unknown,
  context?: { readonly source?: string },
) {
  const text = typeof value === 'number' ? context?.source : undefined;
  if (text === undefined || text === String(value)) return value;
  const texts = textsByHolder.get(this) ?? new Map<string, string>();
  textsByHolder.set(this, texts.set(key, text));
  return value;
}
