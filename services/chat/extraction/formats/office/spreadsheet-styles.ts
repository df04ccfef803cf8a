import { readXml } from './archive.ts';

/**
 * The numbers of the cell formats whose text readers do not see: tiny, in the color of its ground, or with a number format that shows
 * nothing. Colors of a theme are not known, so such text counts as seen.
 */
export function readHiddenFormats(xml: string): ReadonlySet<number> {
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
        if (name === 'color' && font) font.color = hexOf(attributes.rgb);
        if (name === 'sz' && font) font.isTiny = Number(attributes.val) <= 1;
      }
      if (part === 'fills') {
        if (name === 'fill') fills.push('FFFFFF');
        const isPlain = /^(?:none|solid)$/.test(attributes.patternType ?? 'none');
        if (name === 'gradientFill' || (name === 'patternFill' && !isPlain))
          fills[fills.length - 1] = undefined;
        if (name === 'fgColor') fills[fills.length - 1] = hexOf(attributes.rgb);
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

/** A color as six hexadecimal digits, without its opacity. */
function hexOf(rgb: string | undefined): string | undefined {
  return /^(?:[\da-f]{2})?([\da-f]{6})$/i.exec(rgb ?? '')?.[1]?.toUpperCase();
}
