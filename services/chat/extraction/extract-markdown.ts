import { lexer, type Token, type Tokens } from 'marked';
import type { Block, Extracted } from './blocks.ts';

/** Markdown as its readers see it: without the signs of its syntax. */
export function extractMarkdown(text: string): Extracted {
  const [matter, rest] = frontMatter(text);
  const blocks = lexer(rest).flatMap((token) => blocksOf(token as Token));
  return { blocks, title: matter };
}

/** The title in a block of YAML at the start, and what follows it. */
function frontMatter(text: string): [string | undefined, string] {
  const matter = /^---\n([\s\S]{0,4000}?)\n---\n/.exec(text);
  if (!matter) return [undefined, text];
  const title = /^title:\s*["']?(.*?)["']?\s*$/m.exec(matter[1] ?? '')?.[1];
  return [title || undefined, text.slice(matter[0].length)];
}

function blocksOf(token: Token): Block[] {
  switch (token.type) {
    case 'heading':
      return [{ text: plain(token.tokens), level: token.depth }];
    case 'list':
      return [{ text: listText(token as Tokens.List, '') }];
    case 'table':
      return tableBlocks(token as Tokens.Table);
    case 'blockquote':
      return (token.tokens ?? []).flatMap((inner) => blocksOf(inner));
    case 'code':
      return [{ text: token.text }];
    case 'space':
    case 'hr':
    case 'def':
      return [];
    default:
      return [{ text: plain([token]) }];
  }
}

function listText(list: Tokens.List, indent: string): string {
  const items = list.items.map((item, index) => {
    const mark = list.ordered ? `${Number(list.start || 1) + index}.` : '-';
    const parts = item.tokens.map((token) =>
      token.type === 'list' ? `\n${listText(token as Tokens.List, `${indent}  `)}` : plain([token]),
    );
    return `${indent}${mark} ${parts.join(' ').replaceAll(' \n', '\n').trim()}`;
  });
  return items.join('\n');
}

/** Each row by itself, with the names of its columns. */
function tableBlocks({ header, rows }: Tokens.Table): Block[] {
  const names = header.map(({ tokens }) => plain(tokens));
  return rows.map((row) => ({
    text: row
      .map(({ tokens }, column) => [names[column], plain(tokens)].filter(Boolean).join(': '))
      .join('; '),
  }));
}

function plain(tokens: readonly Token[] | undefined): string {
  return (tokens ?? []).map(plainToken).join('');
}

function plainToken(token: Token): string {
  if (token.type === 'br') return '\n';
  if (token.type === 'html') return token.text.replace(/<[^>]*>/g, '');
  if (token.type === 'image') return token.text;
  const inner = 'tokens' in token ? token.tokens : undefined;
  return decodeEntities(inner && inner.length > 0 ? plain(inner) : 'text' in token ? token.text : '');
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
