import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { startChat, type TestChat } from '../../../services/chat/testing.ts';
import type { Judged } from './public.ts';

interface Case {
  readonly file: string;
  readonly todo: string;
  readonly right: string;
  readonly wrong?: string;
}

/** Small inputs after public reports, each uploaded to a chat of its own: the answer to its question, its text, or its warning. */
export async function reports(folder: string): Promise<Judged[]> {
  if (!existsSync(folder)) return [];
  const cases: Case[] = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));
  const judged: Judged[] = [];
  for (const each of cases.filter(({ todo }) => todo.startsWith('chat'))) {
    await using chat = await startChat();
    const said = await answerOf(chat, folder, each);
    judged.push({
      group: 'inputs after reports',
      kind: extname(each.file).slice(1),
      file: each.file,
      isRight: isRight(each, said),
      said: JSON.stringify(said),
    });
  }
  return judged;
}

interface Said {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly text: string;
}

function isRight({ right, wrong, file }: Case, { status, warnings, text }: Said): boolean {
  if (status !== 201 || text.includes('\0')) return false;
  if (right === '(warning)') return warnings.some((each) => /letters|page 2|page 3/i.test(each));
  return (
    text.includes(right) &&
    !(wrong !== undefined && text.includes(wrong)) &&
    !(file.endsWith('table.md') && text.includes('WattP7'))
  );
}

async function answerOf(chat: TestChat, folder: string, { file, todo }: Case): Promise<Said> {
  const content = new Uint8Array(readFileSync(join(folder, file)));
  const uploaded = await chat.upload([{ name: file, content }]);
  const [document] = uploaded.json?.documents ?? [];
  const warnings: string[] = document?.warnings ?? [];
  const question = /: (.*\?)$/.exec(todo)?.[1];
  if (question !== undefined) {
    const { json } = await chat.send('POST', '/api/chat', { query: question, stream: false });
    return { status: uploaded.status, warnings, text: json?.answer ?? '' };
  }
  const { text } = await chat.send('GET', `/api/documents/${document?.document_id}/text`);
  return { status: uploaded.status, warnings, text };
}
