import type { Clock } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import { type PostServiceDefinition, PostSort } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  adjectives,
  emoji,
  englishSentences,
  englishTitles,
  givenNames,
  languages,
  places,
  topics,
  verbs,
} from './corpus-texts.ts';

export interface CorpusPost {
  readonly userId: number;
  readonly title: string;
  readonly body: string;
  readonly createdAtMs: number;
}

export interface Corpus {
  readonly size: number;
  /** The post at an index from 0: the same for the same seed and size, whichever others were asked for. */
  at(index: number): CorpusPost;
}

const startMsDefault = Date.UTC(2024, 0, 1);
/** Time from the first post to the last. */
export const seedSpanMs = 90 * 24 * 3_600_000;
/** The posts of a batch share a time, so there are at least this many times, enough for each hour of a day. */
const batchesMin = 600;

/**
 * Posts as people write them: two thirds English, the rest in some two dozen languages and scripts, with emoji,
 * mostly a few sentences and sometimes thousands of characters; a few users write most of them.
 */
export function createCorpus(options: {
  seed: number;
  size: number;
  users: number;
  /** Time of the first post; the last is 90 days newer. */
  startMs?: number;
}): Corpus {
  const { startMs = startMsDefault } = options;
  const matter = readMatter();
  return {
    size: options.size,
    at(index) {
      const random = randomNumbers(options.seed, index);
      const createdAtMs = startMs + Math.floor(((index + random()) / options.size) * seedSpanMs);
      const userId = 1 + Math.floor(options.users * random() ** 2);
      const english = random() < 0.66;
      const texts = english ? matter.english : pick(matter.languages, random());
      const fill = filler(matter, random);
      const title = capitalized(fill(pick(texts.titles, random())));
      const body = Array.from({ length: sentenceCount(random) }, (_, place) => {
        return gap(place) + fill(pick(texts.sentences, random()));
      }).join('');
      return { userId, title, body, createdAtMs };
    },
  };
}

/** A clock for the service that is seeded: it shows the time of the posts that are being loaded. */
export class SeedClock implements Clock {
  #nowMs = Date.now();

  now(): number {
    return this.#nowMs;
  }

  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}

export interface SeedProgress {
  /** The service creates posts at this time, if it runs in this process. */
  readonly clock?: SeedClock;
  /** True to load it also beside posts that are not of the corpus. */
  readonly isForced?: boolean;
  /** Gets the number of posts so far. */
  onProgress?(posts: number): void;
}

/**
 * Loads what is missing of a corpus by the public calls, so that loading it twice is the same as once. Returns how many posts are new;
 * undefined beside posts that are not of the corpus, unless it is forced.
 */
export async function seedPosts(
  client: Client<PostServiceDefinition>,
  corpus: Corpus,
  { clock, onProgress, isForced = false }: SeedProgress = {},
): Promise<number | undefined> {
  const batch = clock
    ? Math.max(1, Math.min(postLimits.bulk, Math.floor(corpus.size / batchesMin)))
    : postLimits.bulk;
  const loaded = await countLoaded(client, corpus);
  if (loaded === 0 && !isForced && (await holdsPosts(client))) return undefined;
  for (let start = loaded; start < corpus.size; ) {
    const end = Math.min(corpus.size, start + batch);
    const posts = Array.from({ length: end - start }, (_, index) => {
      const { userId, title, body } = corpus.at(start + index);
      return { userId, title, body };
    });
    clock?.set(corpus.at(start).createdAtMs);
    await client.bulkCreatePosts({ posts, errors: [], idempotencyKey: '', digest: Buffer.alloc(0) });
    onProgress?.(end);
    start = end;
  }
  return corpus.size - loaded;
}

async function holdsPosts(client: Client<PostServiceDefinition>): Promise<boolean> {
  const { posts } = await client.listPosts({
    filter: {},
    sort: PostSort.POST_SORT_ID,
    descending: false,
    page: 1,
    pageSize: 1,
  });
  return posts.length > 0;
}

/** Counts the posts of the corpus that are loaded, from its first: by bisection, because they are loaded in order. */
async function countLoaded(client: Client<PostServiceDefinition>, corpus: Corpus): Promise<number> {
  let [loaded, missing] = [0, corpus.size + 1];
  while (missing - loaded > 1) {
    const middle = Math.floor((loaded + missing) / 2);
    if (await isLoaded(client, corpus.at(middle - 1))) loaded = middle;
    else missing = middle;
  }
  return loaded;
}

async function isLoaded(
  client: Client<PostServiceDefinition>,
  { userId, title, body }: CorpusPost,
): Promise<boolean> {
  const [line = ''] = body.split('\n');
  const search = [...line].slice(0, postLimits.search).join('');
  const { posts } = await client.listPosts({
    filter: { userId, search },
    sort: PostSort.POST_SORT_ID,
    descending: false,
    page: 1,
    pageSize: postLimits.pageSize,
  });
  return posts.some((post) => post.title === title && post.body === body);
}

interface Texts {
  readonly titles: readonly Template[];
  readonly sentences: readonly Template[];
}

/** Plain text and slot names by turns, text first. */
type Template = readonly string[];

interface Matter {
  readonly english: Texts;
  readonly languages: readonly Texts[];
  readonly nouns: readonly (readonly string[])[];
  readonly words: Readonly<Record<string, readonly string[]>>;
}

function readMatter(): Matter {
  const template = (text: string): Template => text.split(/[{}]/);
  return {
    english: { titles: englishTitles.map(template), sentences: englishSentences.map(template) },
    languages: languages.map(({ titles, sentences }) => ({
      titles: titles.split('|').map(template),
      sentences: sentences.split('|').map(template),
    })),
    nouns: topics.map((topic) => topic.nouns.split('|')),
    words: {
      adjective: adjectives.split('|'),
      Adjective: adjectives.split('|').map(capitalized),
      verb: verbs.split('|'),
      name: givenNames.split('|'),
      place: places.split('|'),
      emoji: emoji.split('|'),
    },
  };
}

/** A function that fills the slots of one post, which keeps to one topic. */
function filler(matter: Matter, random: () => number): (template: Template) => string {
  const topic = Math.floor(random() * topics.length);
  const slot = (name: string): string => {
    if (name === 'noun') return pick(matter.nouns[topic] ?? [], random());
    if (name === 'number') return String(1 + Math.floor(2 ** (random() * 11)));
    if (name === 'code') return code(random);
    if (name === 'tag') return topics[topic]?.tag ?? '';
    return pick(matter.words[name] ?? [], random());
  };
  return (template) => template.map((part, place) => (place % 2 === 0 ? part : slot(part))).join('');
}

/** Rare text to search for, such as `QK-40213`. */
function code(random: () => number): string {
  const letter = () => String.fromCharCode(65 + Math.floor(random() * 26));
  return `${letter()}${letter()}-${10_000 + Math.floor(random() * 90_000)}`;
}

/** Half of the posts have up to three sentences; one in a few hundred is long. */
function sentenceCount(random: () => number): number {
  return Math.min(110, 1 + Math.floor(1.2 / (1 - random()) ** 0.75));
}

/** Five sentences a paragraph. */
function gap(place: number): string {
  if (place === 0) return '';
  return place % 5 === 0 ? '\n\n' : ' ';
}

function capitalized(text: string): string {
  return text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

function pick<T>(list: readonly T[], random: number): T {
  return list[Math.floor(random * list.length)] as T;
}

/** A generator of numbers in [0, 1) for one post (mulberry32). */
function randomNumbers(seed: number, index: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
