import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { newSecret } from '@octavo/core';
import { Passwords } from '@octavo/core/passwords';
import type { Database, WriteSession } from '@octavo/data';
import { type DayKeys, dayOf, quoteOfDay } from '../daily/index.ts';
import { insertQuote } from '../quotes/index.ts';
import type { Attribution } from '../quotes/quote.ts';
import type { Tables } from '../tables.ts';
import { addComment, addLikes, addReports, findByText, holdsOnlyOthers, readerId } from './store.ts';

const dayMs = 86_400_000;
const spanDays = 240;
const readers = ['amara', 'clara', 'ines', 'jonas', 'mina', 'sam', 'theo', 'wei', 'yusuf', 'zoe'];
const earlierDays = 14;

/**
 * Loads the demo quotes that are not there yet, as added in the last eight months, with likes, comments and reports by readers that
 * cannot sign in. Returns the number of quotes it loaded.
 */
export async function seedQuotes(
  database: Database<Tables>,
  { nowMs, dayKeys }: { nowMs: number; dayKeys: DayKeys },
): Promise<number> {
  const passwordHash = await new Passwords().hash(newSecret());
  const todayMs = nowMs - (nowMs % dayMs);
  const loaded = await database.write(
    async (session) => {
      await session.lock('seed');
      const ids = new Map<string, number>();
      for (const name of readers) {
        ids.set(name, await readerId(session, { name, passwordHash, nowMs: todayMs - spanDays * dayMs }));
      }
      return loadQuotes(session, { readers: ids, todayMs, dayKeys });
    },
    { alone: true },
  );
  for (let ago = earlierDays; ago > 0; ago--) {
    await quoteOfDay(database, dayOf(todayMs - ago * dayMs).day, dayKeys);
  }
  return loaded;
}

/** True if there are quotes and none of them is of the demo data, which would then stand among those of the owner. */
export function holdsOwnQuotes(database: Database<Tables>): Promise<boolean> {
  const texts = readSeedQuotes().map(({ text }) => text);
  return holdsOnlyOthers(database, texts);
}

interface Place {
  readonly readers: ReadonlyMap<string, number>;
  readonly todayMs: number;
  readonly dayKeys: DayKeys;
}

async function loadQuotes(session: WriteSession<Tables>, place: Place): Promise<number> {
  const { readers: ids, todayMs, dayKeys } = place;
  const quotes = readSeedQuotes();
  const comments = readComments();
  let loaded = 0;
  // In an order of its own, so that authors and categories mix.
  for (const [index, quote] of quotes.sort((a, b) => chance(a.text) - chance(b.text)).entries()) {
    if (await findByText(session, quote.text)) continue;
    const daysAgo = spanDays * (1 - index / quotes.length);
    const createdAtMs = Math.round(todayMs - daysAgo * dayMs);
    const createdBy = ids.get(readers[index % readers.length] as string) as number;
    const id = await insertQuote(
      session,
      { ...quote, isPublished: true },
      { writer: { id: createdBy, isStaff: 0 }, nowMs: createdAtMs, dayKeys },
    );
    const own = comments.filter(({ start }) => quote.text.startsWith(start));
    await addLikes(session, likesOf(quote.text, own.length, { id, createdAtMs, todayMs, ids }));
    for (const [number, { user, text }] of own.entries()) {
      const share = (number + 1 + chance(text)) / (own.length + 2);
      const atMs = Math.round(createdAtMs + (todayMs - createdAtMs) * share);
      await addComment(session, { quoteId: id, userId: ids.get(user) as number, text, nowMs: atMs });
    }
    loaded++;
  }
  if (loaded > 0) await addReports(session, reportsOf(ids, todayMs));
  return loaded;
}

/** Quotes that are talked about are liked too. */
function likesOf(
  text: string,
  comments: number,
  place: { id: number; createdAtMs: number; todayMs: number; ids: ReadonlyMap<string, number> },
) {
  const { id, createdAtMs, todayMs, ids } = place;
  const share = Math.min(1, chance(`likes ${text}`) ** 2 + comments * 0.25);
  return readers
    .filter((name) => chance(`${name} ${text}`) < share)
    .map((name) => {
      const nowMs = Math.round(createdAtMs + (todayMs - createdAtMs) * chance(`${text} ${name}`));
      return { quoteId: id, userId: ids.get(name) as number, nowMs };
    });
}

function reportsOf(ids: ReadonlyMap<string, number>, todayMs: number) {
  return [
    ['wei', 'Elementary, my dear Watson', 'misattributed', 'It comes from a film.'],
    [
      'zoe',
      'Nowadays people know the price',
      'duplicate',
      'There is nearly the same in Lady Windermere’s Fan.',
    ],
    ['yusuf', 'Man is the Only Animal', 'typo', 'Are all these capitals in the book?'],
    ['yusuf', 'Early to bed', 'other', 'Franklin collected it, and did not invent it.'],
  ].map(([name = '', start = '', reason = '', note = ''], index) => ({
    userId: ids.get(name) as number,
    nowMs: todayMs - (index + 1) * dayMs,
    start,
    reason,
    note,
  }));
}

export interface SeedQuote {
  readonly category: string;
  readonly author: string;
  readonly source: string;
  readonly text: string;
  readonly attribution: Attribution;
}

/** The demo quotes. Lines of verse are separated by ` / ` in the file. */
export function readSeedQuotes(): SeedQuote[] {
  const [, ...lines] = readFileSync(new URL('quotes.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const [category, author, source, text, attribution] = line.split('\t') as [
      string,
      string,
      string,
      string,
      Attribution,
    ];
    return { category, author, source, text: text.replaceAll(' / ', '\n'), attribution };
  });
}

interface SeedComment {
  readonly user: string;
  /** Start of the text of its quote. */
  readonly start: string;
  readonly text: string;
}

function readComments(): SeedComment[] {
  const file = readFileSync(new URL('comments.tsv', import.meta.url), 'utf8');
  const [, ...lines] = file.trimEnd().split('\n');
  return lines.map((line) => {
    const [user = '', start = '', text = ''] = line.split('\t');
    return { user, start: start.replaceAll(' / ', '\n'), text };
  });
}

/** A number from 0 to 1 that is always the same for a text. */
function chance(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
}
