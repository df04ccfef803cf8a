/** A date-time that cannot be kept: malformed, or outside the years 1 to 9999 once it is in UTC. */
export class DateTimeError extends Error {
  readonly isOutOfRange: boolean;

  constructor(isOutOfRange: boolean) {
    super(isOutOfRange ? 'the date-time is out of range' : 'the date-time is malformed');
    this.isOutOfRange = isOutOfRange;
  }
}

const pattern =
  /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})[T ](?<hour>\d{1,2}):(?<minute>\d{1,2})(?::(?<second>\d{1,2})(?:[.,](?<fraction>\d{1,6})\d{0,6})?)?\s*(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?$/;

/**
 * Parses an ISO 8601 date-time as Django does; without an offset it is in UTC. Returns it in UTC with six decimals,
 * `2026-01-31T12:00:00.000000Z`: 27 characters, so that such texts are in the order of time. Throws {@link DateTimeError}.
 */
export function parseDateTime(text: string): string {
  const parts = pattern.exec(text)?.groups;
  if (!parts) throw new DateTimeError(false);
  const [year, month, day, hour, minute, second] = units.map((unit) => Number(parts[unit] ?? 0)) as Six;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  const isReal =
    year >= 1 &&
    local.getUTCMonth() === month - 1 &&
    local.getUTCDate() === day &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59;
  if (!isReal) throw new DateTimeError(false);
  const instant = new Date(local.getTime() - offsetMinutes(parts.zone) * 60_000);
  const utcYear = instant.getUTCFullYear();
  if (utcYear < 1 || utcYear > 9_999) throw new DateTimeError(true);
  return `${instant.toISOString().slice(0, 19)}.${(parts.fraction ?? '').padEnd(6, '0')}Z`;
}

/** A time of the clock as {@link parseDateTime} returns it. */
export function dateTimeOf(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, -1)}000Z`;
}

/** The form of the API: six decimals, or none if they are zeros. */
export function formatDateTime(stored: string): string {
  return stored.replace('.000000Z', 'Z');
}

const units = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;
type Six = [number, number, number, number, number, number];

function offsetMinutes(zone = 'Z'): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0);
  if (minutes >= 24 * 60) throw new DateTimeError(false);
  return zone.startsWith('-') ? -minutes : minutes;
}
