const dayMs = 86_400_000;

/**
 * RFC 3339, UTC, milliseconds: the same text as `Date.toISOString` at a tenth of its cost, because an export formats two times per row.
 * The date is computed from the number of days since 1 March 0000, so that leap days end the year.
 */
export function isoTime(timeMs: number): string {
  if (timeMs < 0 || timeMs >= 253_402_300_800_000) return new Date(timeMs).toISOString();
  const days = Math.floor(timeMs / dayMs);
  const sinceMarch0000 = days + 719_468;
  const era = Math.floor(sinceMarch0000 / 146_097);
  const dayOfEra = sinceMarch0000 - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${year}-${two(month)}-${two(day)}T${timeOfDay(timeMs - days * dayMs)}Z`;
}

function timeOfDay(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${three(ms % 1_000)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

function three(value: number): string {
  return value < 100 ? `0${two(value)}` : `${value}`;
}
