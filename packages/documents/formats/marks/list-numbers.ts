const letters = 'abcdefghijklmnopqrstuvwxyz';
const romans: readonly [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];
const romanMax = 4_999;

/** The number of a point of a list as it is shown, by the form that HTML and OpenDocument name: `1`, `a`, `A`, `i` or `I`. */
export function listNumber(value: number, form: string): string {
  const lower = form.toLowerCase();
  if (value < 1 || (lower !== 'a' && lower !== 'i')) return String(value);
  const shown = lower === 'a' ? inLetters(value) : value <= romanMax ? inRomans(value) : String(value);
  return form === lower ? shown : shown.toUpperCase();
}

function inLetters(value: number): string {
  let [left, shown] = [value, ''];
  for (; left > 0; left = Math.floor((left - 1) / letters.length))
    shown = `${letters[(left - 1) % letters.length]}${shown}`;
  return shown;
}

function inRomans(value: number): string {
  let [left, shown] = [value, ''];
  for (const [worth, sign] of romans) for (; left >= worth; left -= worth) shown += sign;
  return shown;
}
