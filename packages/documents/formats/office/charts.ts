import { readArchive, readXml, withoutPrefixes } from './archive.ts';

const officeChart = /^(?:word|ppt|xl)\/charts\/chart\d*\.xml$/;
const openChart = /^Object [^/]+\/content\.xml$/;
/** Elements of a chart of Office around the values that it draws. */
const drawn = new Set(['val', 'yVal', 'bubbleSize']);
const decimalsMax = 4;

/** A warning for each document with charts that draw values which its text has not. */
export function chartWarnings(bytes: Uint8Array, texts: readonly string[]): string[] {
  const charts = [...readArchive(bytes, (name) => officeChart.test(name) || openChart.test(name)).values()];
  const values = charts.map(valuesOf).filter((each) => each.length > 0);
  if (values.length === 0) return [];
  const told = numbersIn(texts);
  const untold = values.filter((each) => each.some((value) => !isTold(value, told))).length;
  if (untold === 0) return [];
  return [
    untold === 1
      ? 'A chart shows values that are not in the text.'
      : `${untold} charts show values that are not in the text.`,
  ];
}

function valuesOf(chart: string): number[] {
  const values: number[] = [];
  let [depth, text, isOpenChart] = [0, '', false];
  readXml(withoutPrefixes(chart), {
    open(name, attributes) {
      if (drawn.has(name)) depth++;
      if (name === 'chart') isOpenChart = true;
      const value = attributes['office:value'] ?? attributes.value;
      if (name === 'table-cell' && isOpenChart && value !== undefined) values.push(Number(value));
      text = '';
    },
    text(part) {
      text += part;
    },
    close(name) {
      if (name === 'v' && depth > 0) values.push(Number(text));
      if (drawn.has(name)) depth--;
    },
  });
  return values.filter(Number.isFinite);
}

function numbersIn(texts: readonly string[]): Set<number> {
  const numbers = texts.flatMap((text) => text.match(/\d(?:[\d,]*\d)?(?:\.\d+)?/g) ?? []);
  return new Set(numbers.map((number) => Number(number.replaceAll(',', ''))));
}

/** True if the text has the value, as a percentage, or rounded. */
function isTold(value: number, told: ReadonlySet<number>): boolean {
  const shown = Math.abs(value);
  return [shown, shown * 100].some((each) =>
    Array.from({ length: decimalsMax + 1 }, (_, decimals) => Number(each.toFixed(decimals)))
      // A small value without its decimals could be any number.
      .filter((rounded, decimals) => decimals > 0 || each >= 100 || rounded === each)
      .some((rounded) => told.has(rounded)),
  );
}
