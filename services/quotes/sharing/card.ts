import { ink, type Picture, sharedSize } from '@octavo/web/pictures';
import { excerpt, type Quote } from '../quotes/index.ts';

const charactersMax = 560;
const left = 120;
const width = 960;

/** A quote as a picture for links that are shared. */
export function quoteCard({ text, author, source }: Pick<Quote, 'text' | 'author' | 'source'>): Picture {
  const shown = [...text].length <= charactersMax ? text : excerpt(text, charactersMax);
  const quoted = /^[“‘"«„]/.test(shown) ? shown : `“${shown}”`;
  const line = { font: 'serif', x: left, linesMax: 1 } as const;
  return {
    ...sharedSize,
    parts: [
      { x: 0, y: 0, width: sharedSize.width, height: sharedSize.height, color: '#fbfaf6' },
      { x: 0, y: 0, width: sharedSize.width, height: 12, color: ink.accent },
      {
        x: left,
        y: 64,
        width,
        height: 390,
        color: ink.text,
        font: 'serif',
        texts: [quoted, 'A quote'],
        sizes: [88, 80, 72, 65, 58, 52, 46, 41, 37, 33, 30, 27],
        place: 'middle',
      },
      {
        ...line,
        y: source ? 480 : 506,
        width: 780,
        height: 52,
        color: ink.text,
        texts: [`— ${author}`],
        sizes: [36, 30, 26],
      },
      { ...line, y: 534, width: 780, height: 42, color: ink.muted, texts: [source], sizes: [27, 23] },
      {
        x: 900,
        y: 534,
        width: 220,
        height: 42,
        color: ink.accent,
        font: 'sans',
        texts: ['Quotes'],
        sizes: [26],
        align: 'right',
        place: 'middle',
      },
    ],
  };
}
