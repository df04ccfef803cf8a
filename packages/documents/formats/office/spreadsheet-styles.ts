import { type Attributes, readXml } from './archive.ts';
import { hexOf, shaded, type ThemeColors } from './theme-colors.ts';

/**
 * The numbers of the cell formats whose text readers do not see: tiny, in the color of its ground, or with a number format that shows
 * nothing.
 */
export function readHiddenFormats(xml: string, colors: ThemeColors): ReadonlySet<number> {
  const numberFormats = new Set<string>();
  const fonts: { color?: string | undefined; isTiny?: boolean }[] = [];
  const fills: (string | undefined)[] = [];
  const hidden = new Set<number>();
  let [part, formats] = ['', 0];
  readXml(xml, {
    open(name, attributes) {
      if (/^(?:fonts|fills|cellXfs|cellStyleXfs|dxfs|borders)$/.test(name)) part = name;
      if (name === 'numFmt' && attributes.formatCode === ';;;') numberFormats.add(attributes.numFmtId ?? '');
      const font = fonts.at(-1);
      if (part === 'fonts') {
        if (name === 'font') fonts.push({});
        if (name === 'color' && font) font.color = colorOf(attributes, colors);
        if (name === 'sz' && font) font.isTiny = Number(attributes.val) <= 1;
      }
      if (part === 'fills') {
        if (name === 'fill') fills.push('FFFFFF');
        const isPlain = /^(?:none|solid)$/.test(attributes.patternType ?? 'none');
        if (name === 'gradientFill' || (name === 'patternFill' && !isPlain))
          fills[fills.length - 1] = undefined;
        if (name === 'fgColor') fills[fills.length - 1] = colorOf(attributes, colors);
      }
      if (part !== 'cellXfs' || name !== 'xf') return;
      const { color, isTiny } = fonts[Number(attributes.fontId ?? 0)] ?? {};
      const isGround = color !== undefined && color === fills[Number(attributes.fillId ?? 0)];
      if (isGround || isTiny || numberFormats.has(attributes.numFmtId ?? '')) hidden.add(formats);
      formats++;
    },
    close(name) {
      if (name === part) part = '';
    },
  });
  return hidden;
}

/** The numbers of the cell formats whose numbers are days or times. */
export function readDateFormats(xml: string): ReadonlySet<number> {
  const numberFormats = new Set<string>();
  const dates = new Set<number>();
  let [isInside, formats] = [false, 0];
  readXml(xml, {
    open(name, { numFmtId = '', formatCode = '' }) {
      if (name === 'numFmt' && isDateCode(formatCode)) numberFormats.add(numFmtId);
      if (name === 'cellXfs') isInside = true;
      if (!isInside || name !== 'xf') return;
      if (builtInDates.test(numFmtId) || numberFormats.has(numFmtId)) dates.add(formats);
      formats++;
    },
    text() {},
    close(name) {
      if (name === 'cellXfs') isInside = false;
    },
  });
  return dates;
}

/** Numbers of formats that every workbook has: days and times, also those of East Asian ones. */
const builtInDates = /^(?:1[4-9]|2[0-2]|2[7-9]|3[0-6]|4[5-7]|5[0-8])$/;

/** Returns true for a format with parts of a day outside of quotes, escapes, colors and conditions. */
function isDateCode(code: string): boolean {
  return /[dmyhs]/i.test(code.replace(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|General/gi, ''));
}

/** Names of the colors of a theme, by their numbers in a workbook. */
const themeNames = 'lt1 dk1 lt2 dk2 accent1 accent2 accent3 accent4 accent5 accent6 hlink folHlink'.split(
  ' ',
);

/** The black and white of the palette that workbooks had before themes, and those of the window. */
const palette: Readonly<Record<string, string>> = {
  0: '000000',
  1: 'FFFFFF',
  8: '000000',
  9: 'FFFFFF',
  64: '000000',
  65: 'FFFFFF',
};

/** A color of a font or a fill as six hexadecimal digits; undefined if it is not known. */
function colorOf({ rgb, theme, indexed, tint }: Attributes, colors: ThemeColors): string | undefined {
  const ofTheme = colors.get(themeNames[Number(theme)] ?? '');
  const color = hexOf(rgb) ?? ofTheme ?? palette[indexed ?? ''];
  const change = Number(tint ?? 0);
  if (color === undefined || !change) return color;
  return change < 0 ? shaded(color, 1 + change, 0) : shaded(color, 1 - change, change);
}
