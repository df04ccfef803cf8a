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
