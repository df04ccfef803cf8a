import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Audit } from './audit.ts';
import type { MailQueue } from './mail/index.ts';
import type { Sessions } from './sessions/index.ts';
import type { Tables } from './store/store.ts';
import { claimAccount, lockAddress, usersOf } from './users/index.ts';

/** A user who joined some days ago and has signed in every few days since then, at about the same hour (UTC). */
interface Person {
  readonly email: string;
  readonly joinedDaysAgo: number;
  readonly everyDays: number;
  readonly hour: number;
  readonly devices: readonly (keyof typeof userAgents)[];
}

const userAgents = {
  laptop:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  desktop: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  office:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0',
  phone:
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36',
} as const;

const people: readonly Person[] = [
  person('ada', 89, 2, 8, ['laptop', 'phone']),
  person('bela', 84, 5, 19, ['desktop']),
  person('chidi', 80, 3, 9, ['office', 'phone']),
  person('dagny', 77, 7, 21, ['phone']),
  person('emre', 71, 1, 7, ['laptop', 'desktop']),
  person('freya', 66, 4, 12, ['office']),
  person('goran', 60, 9, 16, ['desktop', 'phone']),
  person('hana', 55, 2, 23, ['laptop']),
  person('ines', 49, 6, 10, ['office', 'phone']),
  person('jun', 42, 3, 5, ['phone']),
  person('kofi', 36, 8, 14, ['desktop']),
  person('lena', 28, 1, 11, ['laptop', 'phone']),
  person('mateo', 21, 4, 18, ['office']),
  person('nour', 15, 2, 13, ['phone', 'desktop']),
  person('oskar', 8, 3, 20, ['laptop']),
  person('priya', 2, 1, 6, ['phone', 'office']),
];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The time of the loaded row. */
export class SeedClock implements Clock {
  nowMs: number;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  now(): number {
    return this.nowMs;
  }
}

interface SeedParts {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly audit: Audit;
  readonly mails: MailQueue;
  /** The clock of the other parts. */
  readonly clock: SeedClock;
}

/**
 * Loads the users who are not there yet, with their sign-ins of the last 90 days. Sends no mails. Returns how many users it
 * loaded: anybody with access to the mails of an address can sign in as its user.
 */
export async function seedUsers(parts: SeedParts, nowMs: number): Promise<number> {
  let loaded = 0;
  for (const [index, each] of people.entries()) {
    if (await seedPerson(parts, each, { nowMs, index })) loaded++;
  }
  return loaded;
}

async function seedPerson(
  { database, sessions, audit, mails, clock }: SeedParts,
  { email, devices, ...habits }: Person,
  { nowMs, index }: { nowMs: number; index: number },
): Promise<boolean> {
  const times = signInTimes(habits, nowMs);
  return database.write(
    async (session) => {
      await lockAddress(session, email);
      const users = await usersOf(session, email);
      if (users.some(({ isVerified }) => isVerified)) return false;
      clock.nowMs = times[0] ?? nowMs;
      const user = await claimAccount(
        { session, audit, mails },
        { email, signedInAs: undefined, nowMs: clock.nowMs },
      );
      for (const [nth, timeMs] of times.entries()) {
        clock.nowMs = timeMs;
        const userAgent = userAgents[devices[nth % devices.length] ?? 'phone'];
        // Addresses for documentation (RFC 5737).
        const visitor = { address: `203.0.113.${10 + index}`, userAgent };
        await sessions.open(session, { user, amr: ['email'], visitor });
      }
      return true;
    },
    { alone: true },
  );
}

/** Times of sign-ins, at another minute each time, and never in the future. */
function signInTimes(
  { joinedDaysAgo, everyDays, hour }: Omit<Person, 'email' | 'devices'>,
  nowMs: number,
): number[] {
  const todayMs = nowMs - (nowMs % dayMs);
  const times: number[] = [];
  for (let daysAgo = joinedDaysAgo; daysAgo >= 0; daysAgo -= everyDays) {
    const minute = (daysAgo * 37 + hour * 11) % 60;
    const timeMs = todayMs - daysAgo * dayMs + hour * hourMs + minute * minuteMs;
    if (timeMs < nowMs) times.push(timeMs);
  }
  return times;
}

function person(
  name: string,
  joinedDaysAgo: number,
  everyDays: number,
  ...rest: [number, Person['devices']]
): Person {
  const [hour, devices] = rest;
  return { email: `${name}@example.com`, joinedDaysAgo, everyDays, hour, devices };
}
