/** Spending of a budget at a threshold. */
export interface AtThreshold {
  readonly name: string;
  readonly period: string;
  readonly spent: bigint;
  readonly available: bigint;
}

interface Formats {
  money(minor: bigint): string;
  /** Name of a period for people. */
  period(name: string): string;
}

/** Title and message of a notification, with the percentage that is spent. */
export function thresholdText(
  { name, period, spent, available }: AtThreshold,
  formats: Formats,
): { readonly title: string; readonly message: string } {
  const sums = `${formats.money(spent)} of ${formats.money(available)}`;
  return {
    title: available > 0n ? `${(spent * 100n) / available}% of ${name}` : `${name} is overspent`,
    message: `You have spent ${sums} for ${name}${period === 'all' ? '' : ` in ${formats.period(period)}`}.`,
  };
}

/** Name of the budget in a title. */
export function nameInTitle(title: string): string | undefined {
  return /^\d+% of (.+)$/s.exec(title)?.[1] ?? /^(.+) is overspent$/s.exec(title)?.[1];
}
