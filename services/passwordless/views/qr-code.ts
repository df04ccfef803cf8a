import { encode } from 'uqr';
import { type Html, html } from '#kit/html/html.ts';

const quietModules = 4;

/** A QR code, dark on light in both schemes, since not every reader takes it the other way round. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: quietModules });
  const path = data
    .flatMap((row, y) => runs(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`))
    .join('');
  return html`<svg role="img" aria-label="${label}" width="220" height="220" viewBox="0 0 ${String(size)} ${String(size)}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#ffffff"/><path d="${path}" fill="#000000"/></svg>`;
}

/** Where dark modules begin in a row, and how many stand together. */
function runs(row: readonly boolean[]): [x: number, length: number][] {
  const text = row.map((isDark) => (isDark ? '#' : ' ')).join('');
  return [...text.matchAll(/#+/g)].map((match) => [match.index, match[0].length]);
}
