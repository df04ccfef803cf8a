import type { Block, Extracted } from '../blocks.ts';

const time = /^\s*(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}\s*-->/;
const paragraphLength = 600;

/** Subtitles (SubRip, WebVTT) as they are spoken: without times, in paragraphs of whole sentences. */
export function extractSubtitles(text: string): Extracted {
  const lines: string[] = [];
  for (const cue of text.replace(/^\uFEFF/, '').split(/\n\s*\n/)) {
    const all = cue.split('\n');
    const at = all.findIndex((line) => time.test(line));
    for (const line of at === -1 ? [] : all.slice(at + 1)) {
      const spoken = line
        .replace(/<v(?:\.[^ <>]*)? +([^<> ][^<>]*)>/g, '$1: ')
        .replace(/<[^<>]*>|\{\\[^{}]*\}/g, '')
        .trim();
      // Captions that scroll say each line twice.
      if (spoken !== '' && spoken !== lines.at(-1)) lines.push(spoken);
    }
  }
  const blocks: Block[] = [];
  let open = '';
  for (const line of lines) {
    open += open === '' ? line : ` ${line}`;
    if (open.length < paragraphLength || !/[.!?…"”]$/.test(line)) continue;
    blocks.push({ text: open });
    open = '';
  }
  return { blocks: open === '' ? blocks : [...blocks, { text: open }] };
}
