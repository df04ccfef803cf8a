import { AppError } from '@octavo/core';
import {
  currencyOf,
  type DecimalSign,
  decimalSignIn,
  digitsOf,
  isCurrency,
  parseMoney,
  readAmount,
} from '@octavo/documents/values';

/** The reading of amounts where a file does not tell it. */
export interface AmountReading {
  readonly decimal?: DecimalSign | undefined;
  /** Currency of amounts without one of their own; USD by default. */
  readonly currency?: string | undefined;
}

type Given = Readonly<Record<string, unknown>>;

/**
 * The records with `amount_minor` and `currency` in place of an `amount` as people write it. The decimal sign is decided once, from all
 * amounts. Throws `invalid_input` where they allow both. Problems are named by their place.
 */
export function withMinorAmounts(
  records: readonly unknown[],
  reading: AmountReading,
  problems: Map<string, string>,
): unknown[] {
  const fallback = reading.currency ?? 'USD';
  if (!isCurrency(fallback)) throw new AppError('invalid_input', 'The currency must be a code such as EUR.');
  const written = records.map((record) => writtenIn(record, fallback));
  const decimal = reading.decimal ?? decimalOf(written.filter((each) => each !== undefined));
  return records.map((record, index) => {
    const amount = written[index];
    if (!amount) return record;
    const { amount: _, ...others } = record as Given;
    const read = minorOf(amount, decimal);
    if ('amount_minor' in others) read.problem = 'must be absent beside amount_minor';
    if (read.problem !== undefined) problems.set(`investments[${index}].amount`, read.problem);
    return { amount_minor: read.minor ?? 0, ...others, currency: amount.currency };
  });
}

interface Written {
  /** A JSON number is exact. */
  readonly amount: string | number;
  readonly currency: string;
}

function writtenIn(record: unknown, fallback: string): Written | undefined {
  const { amount, currency } = (record ?? {}) as Given;
  if (typeof amount !== 'string' && typeof amount !== 'number') return undefined;
  const unit = /[\p{L}\p{Sc}]+/u.exec(String(amount))?.[0];
  const own = typeof currency === 'string' && currency.trim() !== '' ? currency : undefined;
  return { amount, currency: currencyIn(own) ?? own ?? currencyIn(unit) ?? fallback };
}

/** The code of a currency that is named by its code or by a sign that no other has. */
function currencyIn(text: string | undefined): string | undefined {
  const name = text?.trim().toUpperCase() ?? '';
  return isCurrency(name) ? name : currencyOf(name);
}

function decimalOf(amounts: readonly Written[]): DecimalSign {
  const texts = amounts.filter(
    (each): each is Written & { amount: string } => typeof each.amount === 'string',
  );
  const signs = texts.map(({ amount, currency }) => decimalSignIn(amount, digitsOf(currency)));
  const clear = new Set(signs.filter((sign) => sign === '.' || sign === ','));
  const [sign = '.'] = clear;
  const unclear = texts[signs.indexOf('either')]?.amount;
  if (clear.size === 1 || (clear.size === 0 && unclear === undefined)) return sign;
  const example = unclear ?? texts[signs.indexOf(',')]?.amount ?? '';
  throw new AppError(
    'invalid_input',
    `Amounts such as ${example.trim().slice(0, 30)} could mean two things. Choose how they are written.`,
    { reason: 'DECIMAL' },
  );
}

function minorOf(
  { amount, currency }: Written,
  decimal: DecimalSign,
): { minor?: number; problem?: string | undefined } {
  if (!isCurrency(currency)) return {};
  if (typeof amount === 'number') return checked(parseMoney(amount, currency));
  const shown = decimalSignIn(amount, digitsOf(currency));
  if ((shown === '.' || shown === ',') && shown !== decimal)
    return { problem: `must have “${decimal}” as its decimal sign, as the other amounts have` };
  const group = decimal === '.' ? ',' : '.';
  const read = readAmount(amount, currency, { decimal, group });
  // Zeros behind the digits of the currency are nothing.
  return read.problem !== undefined
    ? read
    : checked(parseMoney(read.text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, ''), currency));
}

function checked(parsed: ReturnType<typeof parseMoney>): { minor?: number; problem?: string } {
  if (parsed.problem !== undefined) return { problem: parsed.problem };
  return parsed.minor < 0 ? { problem: 'must not be less than 0' } : parsed;
}
