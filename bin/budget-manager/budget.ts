/** A budget, as the API shows it. */
export interface Budget {
  readonly id: string;
  readonly name: string;
  readonly limit: number;
  readonly spent: number;
  readonly currency: string;
  readonly createdAt: string;
}

/** An amount with all digits of its currency (ISO 4217), such as `1250.00`. */
export function amountText(amount: number, currency: string): string {
  const { maximumFractionDigits: digits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return amount.toFixed(digits);
}
