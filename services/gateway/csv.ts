import type { Post } from './post.ts';

export const csvHeader = 'id,userId,title,body,createdAt,updatedAt\r\n';

/** One record of RFC 4180 a post. Unless told otherwise, no text can act as a formula in a spreadsheet. */
export function csvRecords(posts: readonly Post[], options: { readonly safe: boolean }): string {
  const cell = options.safe ? safeCell : rawCell;
  let records = '';
  for (const { id, userId, title, body, createdAt, updatedAt } of posts) {
    records += `${id},${userId},${cell(title)},${cell(body)},${createdAt},${updatedAt}\r\n`;
  }
  return records;
}

function safeCell(text: string): string {
  return rawCell(startsFormula.test(text) && !plainNumber.test(text) ? `'${text}` : text);
}

function rawCell(text: string): string {
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const startsFormula = /^[=+\-@\t\r]/;
const plainNumber = /^[+-]?\d+(\.\d+)?$/;
const needsQuotes = /[",\r\n]/;
