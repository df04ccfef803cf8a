import { html } from '../html.ts';

/**
 * A picture for links that are shared (Open Graph), as SVG of 1200 by 630 pixels: the service's name, a title on up to five lines,
 * and a line below it.
 */
export function shareImage(options: { service: string; title: string; footer: string }): string {
  const { service, title, footer } = options;
  const size = [...title].length > 90 ? 54 : 70;
  const lines = wrapLines(title, { charactersMax: Math.floor(1_900 / size), linesMax: 5 });
  const top = 330 - ((lines.length - 1) * size * 1.25) / 2;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" width="1200" height="630" font-family="Inter, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif">
<rect width="1200" height="630" fill="#ffffff"/><rect width="1200" height="14" fill="#4453d4"/>
<text x="80" y="110" font-size="32" font-weight="600" fill="#4453d4">${service}</text>
${lines.map((line, index) => html`<text x="80" y="${Math.round(top + index * size * 1.25)}" font-size="${size}" font-weight="600" fill="#1b1c26">${line}</text>`)}
<text x="80" y="560" font-size="32" fill="#5c5f70">${footer}</text></svg>`.toString();
}

/** Breaks text into lines at spaces; a longer word is cut, and what does not fit ends in an ellipsis. */
function wrapLines(
  text: string,
  { charactersMax, linesMax }: { charactersMax: number; linesMax: number },
): string[] {
  const words = text.split(/\s+/).flatMap((word) => pieces([...word], charactersMax));
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && [...line].length + 1 + [...word].length <= charactersMax)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  if (lines.length <= linesMax) return lines;
  return [...lines.slice(0, linesMax - 1), `${lines[linesMax - 1]} …`];
}

function pieces(characters: readonly string[], size: number): string[] {
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}
