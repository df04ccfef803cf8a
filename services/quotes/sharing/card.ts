import { html } from '#kit/html/html.ts';
import { excerpt, type Quote } from '../quotes/index.ts';
import { wrap } from './wrap.ts';

const sizes = [92, 82, 74, 66, 58, 52, 46, 41, 37, 33, 30];
const charactersMax = 560;
const left = 120;
const box = { width: 980, height: 380 };
const lineHeight = 1.3;
/** Faces differ from the widths that {@link wrap} expects. */
const room = 0.97;
const serif =
  'Iowan Old Style, Palatino Linotype, Palatino, URW Palladio L, Book Antiqua, Georgia, Liberation Serif, serif';

/** A quote as a picture for links that are shared (Open Graph): SVG of 1200 by 630 pixels. */
export function quoteCard({ text, author, source }: Pick<Quote, 'text' | 'author' | 'source'>): string {
  const isShort = [...text].length <= charactersMax;
  const { size, lines } = fitted(isShort ? text : excerpt(text, charactersMax));
  const step = size * lineHeight;
  const hasMarks = !/^[“‘"«]/.test(text);
  const top = 70 + (box.height - step * lines.length) / 2 + size * 0.98;
  const by = cut(author, 36, 900);
  const from = source && cut(source, 27, 900);
  const last = lines.length - 1;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" width="1200" height="630" role="img">
<rect width="1200" height="630" fill="#fbfaf6"/><rect width="1200" height="12" fill="#4453d4"/>
<g font-family="${serif}" fill="#1b1c26">${lines.map(
    (line, index) =>
      html`<text x="${left}" y="${round(top + index * step)}" font-size="${size}">${line}${hasMarks && index === last && '”'}</text>`,
  )}${hasMarks && html`<text x="${left}" y="${round(top)}" font-size="${size}" text-anchor="end">“</text>`}
<text x="${left}" y="${from ? 528 : 546}" font-size="36">— ${by}</text>${from && html`<text x="${left}" y="572" font-size="27" fill="#5c5f70">${from}</text>`}</g>
<text x="1120" y="572" text-anchor="end" font-family="Inter, Segoe UI, Roboto, Helvetica Neue, Liberation Sans, Arial, sans-serif" font-size="26" font-weight="600" fill="#4453d4">Quotes</text></svg>`.toString();
}

/** The largest size in which a text fits into the box, with its lines. Verse is set smaller rather than broken. */
function fitted(text: string): { size: number; lines: string[] } {
  const verses = text.split('\n').length;
  const fits = sizes.flatMap((size) => {
    const lines = wrap(text, (box.width * room) / size);
    return lines.length * size * lineHeight <= box.height ? [{ size, lines }] : [];
  });
  const whole = verses > 1 ? fits.find(({ lines }) => lines.length === verses) : undefined;
  const fit = whole ?? fits[0];
  if (fit) return fit;
  const size = sizes.at(-1) as number;
  const linesMax = Math.floor(box.height / (size * lineHeight));
  const lines = wrap(text, (box.width * room) / size);
  return { size, lines: [...lines.slice(0, linesMax - 1), `${lines[linesMax - 1]} …`] };
}

/** A text of one line, cut where it is too long. */
function cut(text: string, size: number, width: number): string {
  const [first = '', ...rest] = wrap(text.replace(/\s+/g, ' '), (width * room) / size);
  return rest.length === 0 ? first : `${wrap(text, (width * room) / size - 1)[0]} …`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
