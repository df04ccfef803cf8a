import { readFileSync } from 'node:fs';
import { dateTimeOf } from '@octavo/core/text';
import type { Database, WriteSession } from '@octavo/data';
import type { Question } from './poll.ts';
import { choiceWrites, hasQuestion, holdsOnlyOthers, questionWrites, type Tables } from './store.ts';
import { insertVotes } from './votes/store.ts';

interface SeedPoll {
  readonly question: string;
  readonly daysAgo: number;
  readonly closesInDays?: number;
  readonly results?: Question['results'];
  readonly duplicates?: Question['duplicates'];
  readonly maxChoices?: number;
  /** People who voted; the weights of choices are percentages of them. */
  readonly votes: number;
  readonly choices: readonly (readonly [text: string, weight: number])[];
  readonly correct?: string;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Loads the polls that are not there yet, with votes since their publication. Returns how many polls it loaded. */
export async function seedPolls(database: Database<Tables>, nowMs: number): Promise<number> {
  let loaded = 0;
  for (const poll of readPolls()) {
    if (await database.write((session) => seedPoll(session, poll, nowMs), { alone: true })) loaded++;
  }
  return loaded;
}

/** True if there are polls and none of them is of the demo data, which would then stand among those of the owner. */
export function holdsOwnPolls(database: Database<Tables>): Promise<boolean> {
  const texts = readPolls().map(({ question }) => question);
  return holdsOnlyOthers(database, texts);
}

function readPolls(): SeedPoll[] {
  return JSON.parse(readFileSync(new URL('./seed.json', import.meta.url), 'utf8'));
}

async function seedPoll(session: WriteSession<Tables>, poll: SeedPoll, nowMs: number): Promise<boolean> {
  const { question: question_text, daysAgo, closesInDays, results = 'always', duplicates = 'none' } = poll;
  const { maxChoices: max_choices = 1 } = poll;
  await session.lock('seed');
  if (await hasQuestion(session, question_text)) return false;
  const todayMs = nowMs - (nowMs % dayMs);
  const pubMs = todayMs - daysAgo * dayMs + 9 * hourMs;
  const closesMs = closesInDays === undefined ? undefined : todayMs + closesInDays * dayMs + 17 * hourMs;
  const times = {
    pub_date: dateTimeOf(pubMs),
    closes_at: closesMs === undefined ? null : dateTimeOf(closesMs),
  };
  const counts = poll.choices.map(([, weight]) => Math.round((poll.votes * weight) / 100));
  const sum = counts.reduce((all, each) => all + each, 0);
  const question = await questionWrites.insert(session, {
    question_text,
    ...times,
    results,
    duplicates,
    max_choices,
    extra_votes: max_choices > 1 ? sum - poll.votes : 0,
  });
  for (const [index, [choice_text]] of poll.choices.entries()) {
    const is_correct = Number(choice_text === poll.correct);
    const choice = await choiceWrites.insert(session, { question: question.id, choice_text, is_correct });
    const phase = index / poll.choices.length;
    const span = { fromMs: pubMs, toMs: Math.min(nowMs, closesMs ?? nowMs), phase };
    await insertVotes(session, choice.id, voteTimes(counts[index] ?? 0, span));
  }
  return true;
}

/** Times of votes, most of them soon after the publication, and more by day than by night. */
function voteTimes(count: number, { fromMs, toMs, phase }: Record<'fromMs' | 'toMs' | 'phase', number>) {
  return Array.from({ length: count }, (_, index) => {
    const share = ((index + phase) / count) ** 2;
    const timeMs = fromMs + share * (toMs - fromMs);
    const hour = (timeMs / hourMs) % 24;
    return Math.round(hour < 7 ? Math.min(toMs - 1, timeMs + 8 * hourMs) : timeMs);
  });
}
