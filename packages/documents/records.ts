import type { Span } from './sentences.ts';

/** A line that names a property and tells its value, which may be empty. */
const field = /^\s{0,3}(?<name>[\p{L}\p{N}][\p{L}\p{N} _./()-]{0,40}?)\s*[:=](?:\s|$)/u;
const fieldsMin = 3;
/** Share of the lines that must be fields or go on with one. */
const fieldShare = 0.8;

/**
 * The records of a paragraph: lines that name each a property of one thing, up to a line without letters or a name that the record has
 * already. Values may go on in indented lines. None if the paragraph is something else.
 */
export function recordsOf(text: string, { start, end }: Span = { start: 0, end: text.length }): Span[] {
  const lines = linesOf(text, start, end);
  const telling = lines.filter((line) => !isDivider(line.text));
  const fitting = telling.filter((line, at) => field.test(line.text) || (at > 0 && /^\s/.test(line.text)));
  if (telling.length < fieldsMin || fitting.length < telling.length * fieldShare) return [];
  const records: { start: number; end: number; names: Set<string> }[] = [];
  let open: (typeof records)[number] | undefined;
  for (const line of lines) {
    if (isDivider(line.text)) {
      open = undefined;
      continue;
    }
    const name = field.exec(line.text)?.groups?.name?.toLowerCase();
    if (!open || (name !== undefined && open.names.has(name))) {
      open = { start: line.start, end: line.end, names: new Set() };
      records.push(open);
    }
    open.end = line.end;
    if (name !== undefined) open.names.add(name);
  }
  return records
    .filter(({ names }) => names.size >= fieldsMin)
    .map((each) => ({ start: each.start, end: each.end }));
}

function isDivider(line: string): boolean {
  return !/[\p{L}\p{N}]/u.test(line);
}

function linesOf(text: string, start: number, end: number): (Span & { readonly text: string })[] {
  let from = start;
  return text
    .slice(start, end)
    .split('\n')
    .map((line) => {
      const own = { start: from, end: from + line.trimEnd().length, text: line };
      from += line.length + 1;
      return own;
    });
}
