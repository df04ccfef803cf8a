/** A span of time as `72h3m0.5s`; below a second as `500ms`. */
export function uptimeText(ms: number): string {
  const whole = Math.floor(ms);
  if (whole > 0 && whole < 1_000) return `${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / 60_000);
  const seconds = `${(whole % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
