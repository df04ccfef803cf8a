import { lexer, type Token, type Tokens } from 'marked';
import type { Block, Extracted } from './blocks.ts';
import { SeenText } from './html.ts';

/** Markdown as its readers see it: without the signs of its syntax. */
export function extractMarkdown(text: string): Extracted {
  const [matter, rest] = frontMatter(text);
  const seen = new SeenText();
  const blocks = lexer(rest).flatMap((token) => blocksOf(token as Token, seen));
  return { blocks, title: matter };
}

/** The title in a block of YAML at the start, and what follows it. */
function frontMatter(text: string): [string | undefined, string] {
  const matter = /^---\n([\s\S]{0,4000}?)\n---\n/.exec(text);
  if (!matter) return [undefined, text];
  const title = /^title:\s*["']?(.*?)["']?\s*$/m.exec(matter[1] ?? '')?.[1];
  return [title || undefined, text.slice(matter[0].length)];
}

function blocksOf(token: Token, seen: SeenText): Block[] {
  switch (token.type) {
    case 'heading':
      return [{ text: plain(token.tokens, seen), level: token.depth }];
    case 'list':
      return [{ text: listText(token as Tokens.List, '', seen) }];
    case 'table':
      return tableBlocks(token as Tokens.Table, seen);
    case 'blockquote':
      return (token.tokens ?? []).flatMap((inner) => blocksOf(inner, seen));
    case 'code':
      return seen.isSeen ? [{ text: token.text }] : [];
    case 'space':
    case 'hr':
    case 'def':
      return [];
    default:
      return [{ text: plain([token], seen) }];
  }
}

function listText(list: Tokens.List, indent: string, seen: SeenText): string {
  const items = list.items.flatMap((item, index) => {
    const mark = list.ordered ? `${Number(list.start || 1) + index}.` : '-';
    const parts = item.tokens.map((token) =>
      token.type === 'list'
        ? `\n${listText(token as Tokens.List, `${indent}  `, seen)}`
        : plain([token], seen),
    );
    const text = parts.join(' ').replaceAll(' \n', '\n').trim();
    return text === '' && !seen.isSeen ? [] : [`${indent}${mark} ${text}`];
  });
  return items.join('\n');
}

/** Makes a block of each row, with the names of its columns. */
function tableBlocks({ header, rows }: Tokens.Table, seen: SeenText): Block[] {
  const names = header.map(({ tokens }) => plain(tokens, seen));
  return rows.map((row) => ({
    text: row
      .map(({ tokens }, column) => [names[column], plain(tokens, seen)].filter(Boolean).join(': '))
      .join('; '),
  }));
}

function plain(tokens: readonly Token[] | undefined, seen: SeenText): string {
  return (tokens ?? []).map((token) => plainToken(token, seen)).join('');
}

function plainToken(token: Token, seen: SeenText): string {
  if (token.type === 'br') return '\n';
  if (token.type === 'html') return seen.take(token.text);
  const inner = 'tokens' in token ? token.tokens : undefined;
  if (inner && inner.length > 0) return plain(inner, seen);
  if (!seen.isSeen || !('text' in token)) return '';
  return token.type === 'image' ? token.text : decodeEntities(token.text);
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
};

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? '');
}
