import { formatNumber } from '../format.ts';
import { type Html, html } from '../html.ts';
import { niceMaximum, round } from './charts.ts';

/** A kind of things that are counted, by its color and place in each column. */
export interface Part {
  readonly name: string;
  readonly tone: 'good' | 'plain' | 'bad' | 'faint';
}

export interface Stack {
  readonly label: string;
  /** Shown on the axis in place of the label. */
  readonly tick?: string;
  /** One number for each part, from the bottom up. */
  readonly values: readonly number[];
}

/**
 * Vertical bars made of parts, with a scale from 0 and a legend in the order of the parts from the top. A table with the same numbers can be
 * unfolded. The page needs the style `charts.css`.
 */
export function stackedChart(options: {
  caption: string;
  head: string;
  parts: readonly Part[];
  stacks: readonly Stack[];
  /** Indexes of the stacks with labels on the axis. */
  ticks: readonly number[];
}): Html {
  const { caption, parts, stacks, ticks } = options;
  const top = niceMaximum(Math.max(...stacks.map(({ values }) => sumOf(values)), 0));
  const band = 100 / Math.max(stacks.length, 1);
  return html`<ul class="legend">${parts.toReversed().map(({ name, tone }) => html`<li class="${tone}">${name}</li>`)}</ul>
<div class="plot" role="img" aria-label="${caption}"><div class="scale"><span>${formatNumber(top)}</span><span>${formatNumber(top / 2)}</span><span>0</span></div>
<svg viewBox="0 0 100 100" preserveAspectRatio="none"><path class="grid" d="M0 0H100M0 50H100M0 100H100"/>
${stacks.map((stack, index) => column(stack, { parts, x: (index + 0.1) * band, width: band * 0.8, top }))}</svg>
<svg class="ticks" aria-hidden="true">${ticks.map((index) => html`<text x="${round((index + 0.5) * band)}%" y="12" text-anchor="middle">${stacks[index]?.tick ?? stacks[index]?.label}</text>`)}</svg></div>
${numbers(options)}`;
}

function column(
  { label, values }: Stack,
  { parts, x, width, top }: { parts: readonly Part[]; x: number; width: number; top: number },
): Html {
  let below = 0;
  const rects = parts.map(({ tone }, index) => {
    const value = values[index] ?? 0;
    below += value;
    const y = round(100 - (below / top) * 100);
    return (
      value > 0 &&
      html`<rect class="part ${tone}" x="${round(x)}" y="${y}" width="${round(width)}" height="${round((value / top) * 100)}"/>`
    );
  });
  const told = parts.map(({ name }, index) => `${formatNumber(values[index] ?? 0)} ${name.toLowerCase()}`);
  return html`<g><rect class="hit" x="${round(x)}" y="0" width="${round(width)}" height="100"/>${rects}<title>${label}: ${told.join(', ')}</title></g>`;
}

function numbers({ caption, head, parts, stacks }: Parameters<typeof stackedChart>[0]): Html {
  const cell = (value: number) => html`<td class="number">${formatNumber(value)}</td>`;
  return html`<details class="numbers"><summary>Show the numbers</summary><table class="table"><caption class="hidden">${caption}</caption>
<thead><tr><th scope="col">${head}</th>${parts.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}<th scope="col" class="number">Total</th></tr></thead>
<tbody>${stacks.map(({ label, values }) => html`<tr><th scope="row">${label}</th>${values.map(cell)}${cell(sumOf(values))}</tr>`)}</tbody></table></details>`;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
