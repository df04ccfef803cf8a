import { encode, renderSVG } from 'uqr';
import { type Html, html } from '../html.ts';

const quietModules = 4;
const errorCorrection = 'M';

/** A QR code as an SVG image of its own. */
export function qrCodeSvg(text: string): string {
  return renderSVG(text, { border: quietModules, ecc: errorCorrection });
}

/** A QR code inside a page. It is dark on light in both color schemes, since not every scanner reads inverted codes. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: errorCorrection, border: quietModules });
  const path = data
    .flatMap((row, y) => runs(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`))
    .join('');
  return html`<svg role="img" aria-label="${label}" width="220" height="220" viewBox="0 0 ${String(size)} ${String(size)}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#ffffff"/><path d="${path}" fill="#000000"/></svg>`;
}

/** The runs of dark modules in a row: where each starts, and its length. */
function runs(row: readonly boolean[]): [x: number, length: number][] {
  const text = row.map((isDark) => (isDark ? '#' : ' ')).join('');
  return [...text.matchAll(/#+/g)].map((match) => [match.index, match[0].length]);
}
