import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..');
/** All documents of the project, from its root. */
export const documents = globSync(['*.md', 'docs/**/*.md', '{packages,services,apps,deploy,proof}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
}).sort();

export function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The README of a package or service, and the documents in `docs/` beside it, as one text. */
export function readWithDocs(folder: string): string {
  return globSync([`${folder}/README.md`, `${folder}/docs/*.md`], { cwd: root })
    .sort()
    .map(read)
    .join('\n');
}

/** Commands for a shell in a document: `number` counts the blocks of the document from 1. */
export interface CommandBlock {
  readonly document: string;
  readonly number: number;
  readonly text: string;
}

/** The fenced blocks of a document that are marked `sh`, or not marked. */
export function commandBlocks(document: string): CommandBlock[] {
  const blocks = [...read(document).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return blocks
    .filter(([, language]) => language === '' || language === 'sh')
    .map(([, , text = ''], index) => ({ document, number: index + 1, text }));
}

/** The pieces of code in the sentences of a document. */
export function inlineCode(document: string): string[] {
  const sentences = read(document).replace(/^```[\s\S]*?^```$/gm, '');
  return [...sentences.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code.replaceAll('\\|', '|'));
}
