const dayMs = 86_400_000;
const daysMax = 10_000;
const days = new Map<number, string>();
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/**
 * An instant as `Date.toISOString` writes it, at a tenth of the cost, which shows where each row of a list or an export has two.
 * @param timeMs milliseconds since the Unix epoch, a whole number. Throws a `RangeError` where a Date does.
 */
export function isoTime(timeMs: number): string {
  const inDay = timeMs - Math.floor(timeMs / dayMs) * dayMs;
  const seconds = Math.floor(inDay / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hour = twoDigits[Math.floor(minutes / 60)];
  const fraction = String(inDay % 1_000).padStart(3, '0');
  return `${isoDay(timeMs)}T${hour}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}.${fraction}Z`;
}

/** The day of an instant in UTC, such as `2026-01-31`. Most rows are of a few thousand days, so those met last are kept. */
export function isoDay(timeMs: number): string {
  const number = Math.floor(timeMs / dayMs);
  const known = days.get(number);
  if (known !== undefined) return known;
  if (days.size >= daysMax) days.clear();
  const day = new Date(timeMs).toISOString().slice(0, -14);
  days.set(number, day);
  return day;
}
