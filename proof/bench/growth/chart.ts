export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const [width, height, left, right, top, bottom] = [720, 300, 64, 190, 34, 40];
/** Readable on white and on black, also without colors (https://jfly.uni-koeln.de/color/). */
const colors = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b'];
const dashes = ['', '6 3', '2 3', '8 3 2 3', '1 2'];

/** A line chart as SVG, both axes logarithmic, in the colors of the reader's light or dark page. */
export function lineChart(
  title: string,
  axes: { readonly x: string; readonly y: string },
  series: readonly Series[],
): string {
  const points = series.flatMap((each) => each.points);
  const [xMin, xMax] = decades(points.map(([x]) => x));
  const [yMin, yMax] = decades(points.map(([, y]) => y));
  const x = (value: number) =>
    left + (Math.log10(value / xMin) / Math.log10(xMax / xMin)) * (width - left - right);
  const y = (value: number) =>
    height -
    bottom -
    (Math.log10(Math.max(value, yMin) / yMin) / Math.log10(yMax / yMin)) * (height - top - bottom);
  const grid = [
    ...steps(xMin, xMax).map(
      (at) =>
        `<path class="g" d="M${fixed(x(at))} ${top}V${height - bottom}"/><text x="${fixed(x(at))}" y="${height - bottom + 16}" text-anchor="middle">${short(at)}</text>`,
    ),
    ...steps(yMin, yMax).map(
      (at) =>
        `<path class="g" d="M${left} ${fixed(y(at))}H${width - right}"/><text x="${left - 6}" y="${fixed(y(at) + 4)}" text-anchor="end">${short(at)}</text>`,
    ),
  ];
  const ends = spread(series.map((each) => y(each.points.at(-1)?.[1] ?? yMin)));
  const lines = series.map(({ name, points }, index) => {
    const [color, dash] = [colors[index % colors.length], dashes[index % dashes.length]];
    const path = points
      .map(([px, py], place) => `${place === 0 ? 'M' : 'L'}${fixed(x(px))} ${fixed(y(py))}`)
      .join('');
    return `<path d="${path}" fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/><text x="${width - right + 8}" y="${fixed((ends[index] ?? 0) + 4)}" style="fill:${color}">${escapeXml(name)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<style>text{font:12px system-ui,sans-serif;fill:#333}.g{stroke:#8886;fill:none}@media (prefers-color-scheme:dark){text{fill:#ddd}}</style>
<text x="${left}" y="16" style="font-weight:600">${escapeXml(title)}</text>
<text x="${left}" y="${height - 6}">${escapeXml(axes.x)} → · ${escapeXml(axes.y)} ↑</text>
${[...grid, ...lines].join('\n')}
</svg>
`;
}

/** The powers of ten around the values. */
function decades(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  const least = 10 ** Math.floor(Math.log10(Math.min(...positive)));
  return [least, Math.max(10 ** Math.ceil(Math.log10(Math.max(...positive))), least * 10)];
}

function steps(from: number, to: number): number[] {
  const count = Math.round(Math.log10(to / from));
  return Array.from({ length: count + 1 }, (_, power) => from * 10 ** power);
}

/** Places of labels, at least one line apart, in the order of their lines. */
function spread(places: readonly number[]): number[] {
  const result = [...places];
  let last = Number.NEGATIVE_INFINITY;
  for (const index of places.map((_, index) => index).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))) {
    last = Math.max(places[index] ?? 0, last + 14);
    result[index] = last;
  }
  return result;
}

function short(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000}M`;
  if (value >= 1_000) return `${value / 1_000}k`;
  return String(Number(value.toPrecision(1)));
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
