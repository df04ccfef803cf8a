import { readFileSync } from 'node:fs';
import type { Database, WriteSession } from '#kit/db/index.ts';
import { dateTimeOf } from '#kit/drf/date-time.ts';
import type { DuplicatesMode, ResultsMode } from './poll.ts';
import { choiceWrites, hasQuestion, insertVotes, questionWrites, type Tables } from './store.ts';

interface SeedPoll {
  readonly question: string;
  readonly daysAgo: number;
  readonly closesInDays?: number;
  readonly results?: ResultsMode;
  readonly duplicates?: DuplicatesMode;
  readonly votes: number;
  readonly choices: readonly (readonly [text: string, weight: number])[];
  readonly correct?: string;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Loads the polls that are not there yet, with votes since their publication. Returns how many polls it loaded. */
export async function seedPolls(database: Database<Tables>, nowMs: number): Promise<number> {
  const polls: SeedPoll[] = JSON.parse(readFileSync(new URL('./seed.json', import.meta.url), 'utf8'));
  let loaded = 0;
  for (const poll of polls) {
    if (await database.write((session) => seedPoll(session, poll, nowMs), { alone: true })) loaded++;
  }
  return loaded;
}

async function seedPoll(session: WriteSession<Tables>, poll: SeedPoll, nowMs: number): Promise<boolean> {
  const { question: question_text, daysAgo, closesInDays, results = 'always', duplicates = 'none' } = poll;
  if (await hasQuestion(session, question_text)) return false;
  const todayMs = nowMs - (nowMs % dayMs);
  const pubMs = todayMs - daysAgo * dayMs + 9 * hourMs;
  const closesMs = closesInDays === undefined ? undefined : todayMs + closesInDays * dayMs + 17 * hourMs;
  const times = {
    pub_date: dateTimeOf(pubMs),
    closes_at: closesMs === undefined ? null : dateTimeOf(closesMs),
  };
  const question = await questionWrites.insert(session, { question_text, ...times, results, duplicates });
  for (const [index, [choice_text, weight]] of poll.choices.entries()) {
    const is_correct = Number(choice_text === poll.correct);
    const choice = await choiceWrites.insert(session, { question: question.id, choice_text, is_correct });
    const phase = index / poll.choices.length;
    const span = { fromMs: pubMs, toMs: Math.min(nowMs, closesMs ?? nowMs), phase };
    await insertVotes(session, choice.id, voteTimes(Math.round((poll.votes * weight) / 100), span));
  }
  return true;
}

/** Most votes come soon after the publication, and more by day than by night. */
function voteTimes(count: number, { fromMs, toMs, phase }: Record<'fromMs' | 'toMs' | 'phase', number>) {
  return Array.from({ length: count }, (_, index) => {
    const share = ((index + phase) / count) ** 2;
    const timeMs = fromMs + share * (toMs - fromMs);
    const hour = (timeMs / hourMs) % 24;
    return Math.round(hour < 7 ? Math.min(toMs - 1, timeMs + 8 * hourMs) : timeMs);
  });
}
