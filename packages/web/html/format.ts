import { type Html, html } from './html.ts';
import { kept, readerLocale } from './reader-locale.ts';

/** A number with its digits grouped, by commas in English, and at most `decimals` decimal places (0 by default). */
export function formatNumber(value: number, decimals = 0): string {
  return value.toLocaleString(readerLocale() ?? 'en', { maximumFractionDigits: decimals });
}

/** `41.7%`, always with one decimal. */
export function formatPercent(percent: number): string {
  return `${percent.toFixed(1)}%`;
}

/** `1 post`, `2 posts`, `1,204 posts`. */
export function count(value: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(value)} ${value === 1 ? singular : plural}`;
}

/** A size in bytes, kB, MB or GB (powers of 1,000), such as `1.5 MB`. */
export function formatBytes(sizeBytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let value = sizeBytes;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1_000;
  return `${formatNumber(value, value < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}

/** A duration by its two largest units, such as `3 days 4 hours`, `5 minutes` or `12 seconds`. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, Math.floor(ms / 1_000));
  const parts: string[] = [];
  for (const [unit, seconds] of durationUnits) {
    const whole = Math.floor(left / seconds);
    left %= seconds;
    if (whole > 0) parts.push(count(whole, unit));
    // The second unit is the one right below the first, or none.
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 seconds';
}

const durationUnits = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/**
 * A time: in UTC as sent, in the reader's time zone, with the exact time as its title, once `time.js` has run.
 * @param instant milliseconds since the Unix epoch, or an ISO 8601 text
 */
export function time(instant: number | string): Html {
  const exact = new Date(instant).toISOString();
  return html`<time datetime="${exact}">${utcFormat(readerLocale() ?? 'en-US').format(new Date(instant))} UTC</time>`;
}

// Created on first use, because that takes about 30 ms.
const utcFormat = kept(
  (locale) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: 'UTC',
    }),
);

/** The start of a text, with an ellipsis if it is longer. */
export function truncate(text: string, length: number): string {
  return text.length > length ? `${withoutHalves(text.slice(0, Math.max(length, 0)))}…` : text;
}

/** The text without half of a surrogate pair that a cut may leave at either end. */
export function withoutHalves(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
}
