import { Parser } from 'htmlparser2';
import type { Block, Extracted } from './blocks.ts';

/** Elements whose text nobody reads on the page. */
const unread = new Set(
  'script style noscript template svg math iframe object head nav button select form'.split(' '),
);
const breaking = new Set(
  'p div section article main header footer aside li ul ol dl dt dd table tr blockquote pre figure figcaption hr address details summary body'.split(
    ' ',
  ),
);

/** A page as its readers see it: headings, paragraphs, points of lists, rows of tables. */
export function extractHtml(html: string): Extracted {
  const reader = new PageReader();
  const parser = new Parser(
    {
      onopentag: (name) => reader.open(name),
      onclosetag: (name) => reader.close(name),
      ontext: (text) => reader.text(text),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(html);
  return reader.finish();
}

class PageReader {
  readonly #blocks: Block[] = [];
  readonly #hidden: string[] = [];
  #text = '';
  #level: number | undefined;
  #title = '';
  #isInTitle = false;
  #preformatted = 0;

  open(name: string): void {
    if (name === 'title' && this.#hidden.every((hidden) => hidden === 'head')) this.#isInTitle = true;
    if (unread.has(name)) this.#hidden.push(name);
    if (name === 'pre') this.#preformatted++;
    if (name === 'br') this.#text += '\n';
    if ((name === 'td' || name === 'th') && this.#text.trim() !== '') this.#text += '; ';
    const level = headingLevel(name);
    if (level !== undefined || breaking.has(name)) this.#flush();
    this.#level = level ?? this.#level;
    if (name === 'li') this.#text = '- ';
  }

  close(name: string): void {
    if (name === 'title') this.#isInTitle = false;
    if (this.#hidden.at(-1) === name) this.#hidden.pop();
    if (headingLevel(name) !== undefined || breaking.has(name)) this.#flush();
    if (name === 'pre') this.#preformatted--;
  }

  text(text: string): void {
    if (this.#isInTitle) this.#title += text;
    else if (this.#hidden.length === 0)
      this.#text += this.#preformatted > 0 ? text : text.replace(/\s+/g, ' ');
  }

  finish(): Extracted {
    this.#flush();
    return { blocks: this.#blocks, title: this.#title.replace(/\s+/g, ' ').trim() || undefined };
  }

  #flush(): void {
    const text = (
      this.#preformatted > 0 ? this.#text : this.#text.replace(/ *\n */g, '\n').replace(/ {2,}/g, ' ')
    ).trim();
    if (text !== '' && text !== '-') this.#blocks.push(this.#level ? { text, level: this.#level } : { text });
    this.#text = '';
    this.#level = undefined;
  }
}

function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

/** The text of each element that has some, with the names of attributes left out. */
export function extractXml(xml: string): Extracted {
  const blocks: Block[] = [];
  let text = '';
  const flush = () => {
    const clean = text.replace(/\s+/g, ' ').trim();
    if (clean !== '') blocks.push({ text: clean });
    text = '';
  };
  const parser = new Parser(
    {
      onopentag: flush,
      onclosetag: flush,
      ontext: (part) => {
        text += part;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return { blocks };
}
