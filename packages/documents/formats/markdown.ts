import { decodeHTML } from 'entities';
import { lexer, type Token, type Tokens } from 'marked';
import { parse } from 'yaml';
import type { Block, Extracted } from './blocks.ts';
import { struckLeftOut } from './blocks.ts';
import { extractHtml, SeenText } from './html.ts';
import { markedText } from './marks/raised.ts';

/** Markdown as its readers see it: without the signs of its syntax. */
export function extractMarkdown(text: string): Extracted {
  const { title, properties, rest } = frontMatter(text);
  const seen = new SeenText();
  const blocks = lexer(rest).flatMap((token) => blocksOf(token as Token, seen));
  return {
    blocks: properties === '' ? blocks : [...blocks, { text: properties }],
    title,
    warnings: seen.hasStruck ? [struckLeftOut] : [],
  };
}

/** The title and the other plain values in a block of YAML at the start, and what follows it. */
function frontMatter(text: string): { title?: string; properties: string; rest: string } {
  const matter = /^---\n([\s\S]{0,10000}?)\n(?:---|\.\.\.)(?:\n|$)/.exec(text);
  const values = matter ? valuesOf(matter[1] ?? '') : undefined;
  if (!matter || !values) return { properties: '', rest: text };
  const lines = Object.entries(values).flatMap(([name, value]) => {
    const told = [value].flat().filter((each) => typeof each !== 'object' && String(each) !== '');
    return told.length > 0 ? [`${name}: ${told.join(', ')}`] : [];
  });
  const { title } = values;
  return {
    ...(typeof title === 'string' && { title }),
    properties: lines.join('\n'),
    rest: text.slice(matter[0].length),
  };
}

/** The values of YAML by their names, as they are written; undefined if it has none. */
function valuesOf(yaml: string): Record<string, unknown> | undefined {
  try {
    const values: unknown = parse(yaml, { schema: 'failsafe', maxAliasCount: 0, logLevel: 'silent' });
    return typeof values === 'object' && values !== null && !Array.isArray(values)
      ? (values as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
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
    case 'html': {
      const wasSeen = seen.isSeen;
      const text = seen.take(token.text);
      return wasSeen ? extractHtml(token.text).blocks : [{ text }];
    }
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
  let text = '';
  let raised: { readonly from: number; readonly isRaised: boolean } | undefined;
  for (const token of tokens ?? []) {
    text += plainToken(token, seen);
    const [, close, name] = (token.type === 'html' && /^<(\/?)su([pb])\b/i.exec(token.text)) || [];
    if (close === '') raised = { from: text.length, isRaised: name?.toLowerCase() === 'p' };
    if (close !== '/' || !raised) continue;
    const before = text.slice(0, raised.from);
    text = before + markedText(before, text.slice(raised.from), raised.isRaised);
    raised = undefined;
  }
  return text;
}

function plainToken(token: Token, seen: SeenText): string {
  if (token.type === 'br') return '\n';
  if (token.type === 'html') return seen.take(token.text);
  if (token.type === 'del') {
    seen.hasStruck ||= seen.isSeen;
    return '';
  }
  const inner = 'tokens' in token ? token.tokens : undefined;
  if (inner && inner.length > 0) return plain(inner, seen);
  if (!('text' in token)) return '';
  if (!seen.isSeen) {
    seen.skip(token.text);
    return '';
  }
  return token.type === 'image' ? token.text : decodeHTML(token.text);
}
