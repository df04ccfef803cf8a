import PostalMime, { type Address } from 'postal-mime';
import { lettersOf, textOfFile } from '../letters.ts';
import type { Block, Extracted } from './blocks.ts';
import { extractHtml } from './html.ts';
import { extractText } from './text.ts';

/** A mail: sender, recipient, time and text. Attachments are named only. */
export async function extractMail(bytes: Uint8Array): Promise<Extracted> {
  const mail = await PostalMime.parse(withoutUtf16(bytes), { maxNestingDepth: 20 });
  const head = [
    ['From', addresses(mail.from ? [mail.from] : [])],
    ['To', addresses(mail.to ?? [])],
    ['Cc', addresses(mail.cc ?? [])],
    ['Date', mail.date ?? ''],
  ].filter(([, value]) => value !== '');
  const body = mail.text?.trim()
    ? extractText(mail.text, { hasHeadings: false })
    : extractHtml(mail.html ?? '');
  const blocks: Block[] = [
    ...(mail.subject ? [{ text: mail.subject, level: 1 }] : []),
    { text: head.map(([name, value]) => `${name}: ${value}`).join('\n') },
    ...body.blocks,
  ];
  const names = mail.attachments.map(({ filename }) => filename ?? 'without a name');
  const warnings = names.length > 0 ? [`Attachments were not read: ${names.join(', ')}`] : [];
  return { blocks, title: mail.subject, warnings: [...warnings, ...(body.warnings ?? [])] };
}

/** A mail that was saved as UTF-16 is one of ASCII before that. */
function withoutUtf16(bytes: Uint8Array): Uint8Array {
  return lettersOf(bytes.subarray(0, 64 * 1024)).encoding.startsWith('utf-16')
    ? Buffer.from(textOfFile(bytes).text)
    : bytes;
}

function addresses(all: readonly Address[]): string {
  return all
    .map(({ name, address }) => [name, address && `<${address}>`].filter(Boolean).join(' '))
    .join(', ');
}
