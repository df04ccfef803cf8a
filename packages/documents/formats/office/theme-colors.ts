import { elementsOf, readXml } from './archive.ts';

/** Colors of a theme by their names in its scheme, such as `lt1` and `accent1`, as six hexadecimal digits. */
export type ThemeColors = ReadonlyMap<string, string>;

/** The colors of the first scheme of a theme, or black on white without one. */
export function readThemeColors(xml: string): ThemeColors {
  const colors = new Map([
    ['dk1', '000000'],
    ['lt1', 'FFFFFF'],
  ]);
  let name = '';
  let isScheme = false;
  readXml(xml, {
    open(element, { val, lastClr }) {
      if (element === 'a:clrScheme') isScheme = true;
      else if (isScheme && (element === 'a:srgbClr' || element === 'a:sysClr')) {
        const hex = hexOf(lastClr ?? val);
        if (hex !== undefined) colors.set(name, hex);
      } else name = element.replace('a:', '');
    },
    close(element) {
      if (element === 'a:clrScheme') isScheme = false;
    },
  });
  return colors;
}

/** The colors of a theme by the names that slides use, which their master maps to those of the scheme, such as `bg1` to `lt1`. */
export function readSlideColors(theme: string, master: string): ThemeColors {
  const scheme = readThemeColors(theme);
  const usual = { bg1: 'lt1', tx1: 'dk1', bg2: 'lt2', tx2: 'dk2' };
  const mapped = Object.entries({ ...usual, ...elementsOf(master, 'p:clrMap')[0] });
  return new Map([
    ...scheme,
    ...mapped.flatMap(([name, of]) => (scheme.has(of) ? [[name, scheme.get(of) ?? ''] as const] : [])),
  ]);
}

/** A color as six hexadecimal digits, without its opacity. */
export function hexOf(rgb: string | undefined): string | undefined {
  return /^(?:[\da-f]{2})?([\da-f]{6})$/i.exec(rgb ?? '')?.[1]?.toUpperCase();
}

/** A color whose channels are multiplied and then moved, both as parts of 1. */
export function shaded(hex: string, factor: number, offset: number): string {
  const channels = hex.match(/../g) ?? [];
  const changed = channels.map((each) => Math.round(Number.parseInt(each, 16) * factor + offset * 255));
  return changed
    .map((each) => Math.min(255, Math.max(0, each)).toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
