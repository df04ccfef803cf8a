import type { Message, Session } from './session.ts';

/** A session as Markdown, with the sources of each answer. */
export function asMarkdown(session: Session, messages: readonly Message[]): string {
  const begun = new Date(session.createdAtMs).toISOString();
  const parts = messages.map((message) => (message.role === 'user' ? question(message) : answer(message)));
  return [`# ${oneLine(session.title)}`, `Begun ${begun}`, ...parts].join('\n\n').concat('\n');
}

function question({ content }: Message): string {
  return `## ${oneLine(content)}`;
}

function answer({ content, details }: Message): string {
  const sources = (details.sources ?? []) as {
    index: number;
    title: string;
    section: string;
    source: string;
  }[];
  const listed = sources
    .filter(({ index }) => content.includes(`[${index}]`))
    .map(({ index, title, section, source }) => {
      const place = section === '' ? '' : `, ${oneLine(section)}`;
      return `- [${index}] ${oneLine(title)}${place} (${oneLine(source)})`;
    });
  return [content, ...(listed.length > 0 ? [`Sources:\n\n${listed.join('\n')}`] : [])].join('\n\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
