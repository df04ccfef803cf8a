import { formatNumber, formatPercent } from '../format.ts';
import { attributes, type Content, type Html, html } from '../html.ts';

// Pages with charts name the stylesheet `charts.css` in `styles`.

export interface Point {
  readonly label: string;
  readonly value: number;
  /** Shown in place of the number. */
  readonly text?: string;
  /** Shown on the axis in place of the label. */
  readonly tick?: string;
  /** Address of what the number is made of. */
  readonly href?: string | undefined;
  /** Value at which a line crosses the column, such as a limit. */
  readonly mark?: number | undefined;
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
    (point) => html`<tr><th scope="row">${labelOf(point)}</th><td>${bar(point.value / max)}</td>
<td class="number">${textOf(point)}</td></tr>`,
  )}</tbody></table>`;
}

export interface Share {
  /** Names its elements for a browser module that updates them. */
  readonly key: string | number;
  readonly label: string;
  /** Content beside the label of the bar, such as a badge. */
  readonly marks?: Content;
  readonly value: number;
  /** The number in words, such as `5 votes`. */
  readonly text: string;
  readonly percent: number;
  /** True to set the bar off from the others. */
  readonly isMarked?: boolean;
}

/**
 * Parts of a whole as bars, whose full width is 100%, below labels of any length. A table with the same numbers can be unfolded. The page
 * needs the style `choices.css`; a browser module finds the numbers by `data-share`, `data-value` and `data-percent`.
 */
export function shareChart(options: {
  caption: string;
  heads: readonly [label: string, value: string, percent: string];
  shares: readonly Share[];
  /** True to show no table, such as on a projector. */
  isBare?: boolean;
}): Html {
  const { caption, shares, isBare = false } = options;
  const [label, value, percent] = options.heads;
  return html`<ul class="shares">${shares.map(
    (share) =>
      html`<li${attributes({ 'data-share': share.key, class: share.isMarked ? 'marked' : undefined })}><p><span><span data-share-label>${share.label}</span> ${share.marks}</span>
<span class="number"><span data-share-text>${share.text}</span> <b data-share-percent>${formatPercent(share.percent)}</b></span></p>${bar(share.percent / 100)}</li>`,
  )}</ul>
${
  !isBare &&
  html`<details class="numbers"><summary>Show the numbers as a table</summary><table class="table"><caption class="hidden">${caption}</caption>
<thead><tr><th scope="col">${label}</th><th scope="col" class="number">${value}</th><th scope="col" class="number">${percent}</th></tr></thead>
<tbody>${shares.map(
    (
      share,
    ) => html`<tr><th scope="row">${share.label}</th><td class="number" data-value="${share.key}">${formatNumber(share.value)}</td>
<td class="number" data-percent="${share.key}">${formatPercent(share.percent)}</td></tr>`,
  )}</tbody></table></details>`
}`;
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

/**
 * Vertical bars over evenly spaced points, with a scale from 0; a bar over its mark is set off. A table with the same numbers can be unfolded.
 * @param format the numbers of the scale, and of points without a text
 */
export function columnChart(options: {
  caption: string;
  heads: readonly [string, string];
  points: readonly Point[];
  /** Indexes of the points with labels on the axis; the others are in the table only. */
  ticks: readonly number[];
  format?: (value: number) => string;
}): Html {
  const { caption, points, ticks, format = formatNumber } = options;
  const top = niceMaximum(Math.max(...points.flatMap(({ value, mark = 0 }) => [value, mark]), 0));
  const isLinked = points.some(({ href }) => href !== undefined);
  const band = 100 / Math.max(points.length, 1);
  const width = band * 0.7;
  return html`<div class="plot" role="${isLinked ? 'group' : 'img'}" aria-label="${caption}"><div class="scale"><span>${format(top)}</span>
<span>${format(top / 2)}</span><span>0</span></div>
<svg viewBox="0 0 100 100" preserveAspectRatio="none"><path class="grid" d="M0 0H100M0 50H100M0 100H100"/>
${points.map((point, index) => column(point, { left: index * band + (band - width) / 2, width, top }))}</svg>
<svg class="ticks" aria-hidden="true">${ticks.map((index) => html`<text x="${round((index + 0.5) * band)}%" y="12" text-anchor="middle">${points[index]?.tick ?? points[index]?.label}</text>`)}</svg></div>${numbersTable(options)}`;
}

/**
 * Used share of something, as a bar. It is an image with the label as its text. If more is used than there is, the bar is as long as what is
 * used, with a gap where the whole ends, so that a little too much looks other than far too much.
 * @param options.mark share at which a line marks the bar, such as that of the time that has passed
 */
export function meter(options: {
  label: string;
  share: number;
  tone: 'good' | 'warn' | 'bad';
  mark?: number | undefined;
}): Html {
  const { label, share, tone, mark } = options;
  const whole = Math.max(share, 1);
  const percent = (part: number) => `${round((part / whole) * 100)}%`;
  const line = (kind: string, at: number) =>
    html`<rect class="${kind}" x="${percent(at)}" width="2" height="100%"/>`;
  return html`<svg class="meter ${tone}" role="img" aria-label="${label}"><rect width="${percent(share > 0 ? Math.max(share, 0.005) : 0)}" height="100%" rx="4"/>${share > 1 && line('end', 1)}${mark !== undefined && line('now', mark)}</svg>`;
}

function bar(share: number): Html {
  const width = share > 0 ? Math.max(share * 100, 0.5) : 0;
  return html`<svg aria-hidden="true"><rect width="${round(width)}%" height="100%" rx="3"/></svg>`;
}

function hitArea(point: Point, x: number, step: number): Html {
  return html`<rect class="hit" x="${round(x - step / 2)}" y="0" width="${round(step)}" height="100"><title>${point.label}: ${textOf(point)}</title></rect>`;
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
    (point) => html`<tr><th scope="row">${labelOf(point)}</th><td class="number">${textOf(point)}</td></tr>`,
  )}</tbody></table></details>`;
}

function column(point: Point, place: { left: number; width: number; top: number }): Html {
  const { href, mark, value } = point;
  const part = (of: number) => round((Math.max(of, 0) / place.top) * 100);
  const [x, width] = [round(place.left), round(place.width)];
  const isOver = mark !== undefined && value > mark;
  const shape = html`<rect class="hit" x="${x}" y="0" width="${width}" height="100"/><rect class="column${isOver ? ' over' : ''}" x="${x}" y="${round(100 - part(value))}" width="${width}" height="${part(value)}"/>${mark !== undefined && html`<path class="mark" d="M${x} ${round(100 - part(mark))}h${width}"/>`}<title>${point.label}: ${textOf(point)}</title>`;
  return href === undefined ? html`<g>${shape}</g>` : html`<a href="${href}">${shape}</a>`;
}

function labelOf({ label, href }: Point): Content {
  return href === undefined ? label : html`<a href="${href}">${label}</a>`;
}

function textOf({ text, value }: Point): string {
  return text ?? formatNumber(value);
}

/** The next of 2, 4 or 10 times a power of ten, so that half of it is a round number too. */
export function niceMaximum(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return [2, 4, 10].map((factor) => factor * power).find((candidate) => candidate >= value) as number;
}

/** Keeps two decimals. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
