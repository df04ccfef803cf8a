import { formatNumber } from './format.ts';
import { type Html, html } from './html.ts';

export interface Point {
  readonly label: string;
  readonly value: number;
  /** Shown in place of the number. */
  readonly text?: string;
}

/** Horizontal bars; the longest has the full width. It is a table, so screen readers read the numbers. */
export function barChart(options: {
  caption: string;
  heads: readonly [string, string];
  points: readonly Point[];
}): Html {
  const max = Math.max(...options.points.map((point) => point.value), 1);
  const [labelHead, valueHead] = options.heads;
  return html`<table class="bars"><caption class="hidden">${options.caption}</caption>
<thead class="hidden"><tr><th scope="col">${labelHead}</th><td></td><th scope="col">${valueHead}</th></tr></thead>
<tbody>${options.points.map(
    (point) => html`<tr><th scope="row">${point.label}</th><td>${bar(point.value / max)}</td>
<td class="number">${point.text ?? formatNumber(point.value)}</td></tr>`,
  )}</tbody></table>`;
}

/** A line chart over evenly spaced points, with a scale from 0. A table with the same numbers can be unfolded. */
export function lineChart(options: {
  caption: string;
  heads: readonly [string, string];
  points: readonly Point[];
  /** Indexes of the points with labels on the axis; the others are in the table only. */
  ticks: readonly number[];
}): Html {
  const top = niceMaximum(Math.max(...options.points.map((point) => point.value), 0));
  const step = 100 / Math.max(options.points.length - 1, 1);
  const corners = options.points.map(
    (point, index) => `${round(index * step)},${round(100 - (point.value / top) * 100)}`,
  );
  return html`<div class="plot" role="img" aria-label="${options.caption}"><div class="scale"><span>${formatNumber(top)}</span>
<span>${formatNumber(top / 2, 1)}</span><span>0</span></div>
<svg viewBox="0 0 100 100" preserveAspectRatio="none"><path class="grid" d="M0 0H100M0 50H100M0 100H100"/>
<polygon class="area" points="0,100 ${corners.join(' ')} 100,100"/><polyline class="line" points="${corners.join(' ')}"/>
${options.points.map((point, index) => hitArea(point, index * step, step))}</svg>
<svg class="ticks" aria-hidden="true">${options.ticks.map((index) => tick(options.points, index, step))}</svg></div>${numbersTable(options)}`;
}

function bar(share: number): Html {
  const width = share > 0 ? Math.max(share * 100, 0.5) : 0;
  return html`<svg aria-hidden="true"><rect width="${round(width)}%" height="100%" rx="3"/></svg>`;
}

function hitArea(point: Point, x: number, step: number): Html {
  return html`<rect class="hit" x="${round(x - step / 2)}" y="0" width="${round(step)}" height="100"><title>${point.label}: ${formatNumber(point.value)}</title></rect>`;
}

function tick(points: readonly Point[], index: number, step: number): Html {
  const anchor = index === 0 ? 'start' : index === points.length - 1 ? 'end' : 'middle';
  return html`<text x="${round(index * step)}%" y="12" text-anchor="${anchor}">${points[index]?.label}</text>`;
}

function numbersTable(options: {
  caption: string;
  heads: readonly [string, string];
  points: readonly Point[];
}): Html {
  return html`<details class="numbers"><summary>Show the numbers</summary><table class="table"><caption class="hidden">${options.caption}</caption>
<thead><tr><th scope="col">${options.heads[0]}</th><th scope="col" class="number">${options.heads[1]}</th></tr></thead>
<tbody>${options.points.map(
    (point) =>
      html`<tr><th scope="row">${point.label}</th><td class="number">${formatNumber(point.value)}</td></tr>`,
  )}</tbody></table></details>`;
}

// The next of 2, 4 or 10 times a power of ten, so that half of it is a round number too.
function niceMaximum(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return [2, 4, 10].map((factor) => factor * power).find((candidate) => candidate >= value) as number;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
