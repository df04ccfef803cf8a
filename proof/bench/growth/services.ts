import { FakeClock } from '@octavo/core';
import { sendRequest } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import type { Cloned } from './clone.ts';

export interface Signed {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Data and requests of a service. */
export interface GrowingService {
  /** Name of what there are many of. */
  readonly records: string;
  readonly file: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** True if the demo data has the first record. */
  readonly isSeeded?: boolean;
  /** Makes the first record, and returns what signs requests. Called at every start, with the number of records so far. */
  open(url: string, count: number): Promise<Signed['headers']>;
  readonly tables: readonly Cloned[];
  /** SQL for counters, after rows were added; `count` rows are there. */
  after?(count: number): string;
  /** Requests by name. */
  readonly requests: Readonly<Record<string, (count: number) => string>>;
}

const password = 'ferries wait in fog';
const cheap = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };
const everySecond = (column: string) => `first.${column} + i * 1000`;

async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const { status, json } = await sendRequest(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (status > 299) throw new Error(`${url}: ${status} ${JSON.stringify(json)}`);
  return json;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export const growing: Readonly<Record<string, GrowingService>> = {
  gateway: {
    records: 'posts',
    file: 'posts.sqlite',
    settings: { DEMO_EDITOR_PASSWORD: password, OBJECT_STORE: 'off', ...cheap },
    async open(url, count) {
      const login = { username: 'editor', password };
      const headers = bearer((await post(`${url}/api/v1/auth/login`, login)).data.token);
      if (count === 0)
        await post(`${url}/api/v1/posts`, { title: 'Ferries', body: 'They wait in fog.' }, headers);
      return headers;
    },
    tables: [
      {
        table: 'post',
        columns: {
          id: 'i',
          created_at_ms: everySecond('created_at_ms'),
          updated_at_ms: everySecond('updated_at_ms'),
          indexed: '1',
        },
      },
    ],
    after: (count) => `UPDATE post_total SET posts = ${count}, last_id = ${count}`,
    requests: {
      'one post': (count) => `/api/v1/posts/${Math.ceil(count / 2)}`,
      'first page': () => '/api/v1/posts?pageSize=20',
      'page in the middle': (count) => `/api/v1/posts?pageSize=20&page=${Math.ceil(count / 40)}`,
      statistics: () => '/api/v1/posts/analytics',
    },
  },
  passwordless: {
    records: 'users with a session',
    file: 'passwordless.sqlite',
    settings: {
      PASSWORDLESS_WORKER: 'off',
      PASSWORDLESS_LIMIT_ENROLL_PER_IP: '0',
      PASSWORDLESS_LIMIT_VERIFY_PER_IP: '0',
    },
    async open(url, count) {
      // By an authenticator app, which needs no mail; another user each time, since a code works once.
      const email = `alice.${count}@example.com`;
      const { secret } = await post(`${url}/totp/enroll`, { email });
      const code = appCode(secret, new FakeClock(Date.now()));
      return bearer((await post(`${url}/totp/verify`, { email, code })).access_token);
    },
    tables: [
      { table: 'user', columns: { id: "'user ' || i", email: "'user' || i || '@example.com'" } },
      { table: 'session', columns: { id: "'session ' || i", user_id: "'user ' || i" } },
      {
        table: 'refresh_token',
        columns: { hash: "'hash ' || i", session_id: "'session ' || i" },
      },
    ],
    requests: {
      account: () => '/me',
      'own sessions': () => '/sessions',
    },
  },
  polls: {
    records: 'polls',
    file: 'polls.sqlite',
    isSeeded: true,
    async open() {
      return {};
    },
    tables: [
      {
        table: 'question',
        columns: {
          id: '1000 + i',
          pub_date: "strftime('%Y-%m-%dT%H:%M:%S.000000Z', 1600000000 + i * 60, 'unixepoch')",
        },
      },
      { table: 'choice', columns: { id: '1000 + i', question: '1000 + i', is_correct: '0' } },
    ],
    requests: {
      'one poll': (count) => `/api/questions/${1_000 + Math.ceil(count / 2)}/`,
      'first page': () => '/polls/',
      'page in the middle': (count) => `/polls/?page=${Math.ceil(count / 40)}`,
      'list, last offset': (count) => `/api/questions/?limit=20&offset=${count - 20}`,
    },
  },
  quotes: {
    records: 'quotes',
    file: 'quotes.sqlite',
    isSeeded: true,
    async open() {
      return {};
    },
    tables: [
      {
        table: 'quote',
        columns: {
          id: '1000 + i',
          text: "first.text || ' ' || i",
          fingerprint: "'clone ' || i",
          created_at_ms: everySecond('created_at_ms'),
          day_key: 'i',
        },
      },
    ],
    requests: {
      'one quote': (count) => `/api/quotes/${1_000 + Math.ceil(count / 2)}/`,
      'first page': () => '/',
      random: () => '/api/quotes/random/',
      'list, last offset': (count) => `/api/quotes/?limit=20&offset=${count - 20}`,
    },
  },
  budgets: {
    records: 'expenses of one account',
    file: 'budgets.sqlite',
    settings: {
      GRPC_PORT: '0',
      BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
      BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
      ...cheap,
    },
    async open(url, count) {
      const account = { email: 'alice@example.com', password };
      const path = count === 0 ? 'register' : 'login';
      const headers = bearer((await post(`${url}/api/auth/${path}`, account)).token);
      if (count > 0) return headers;
      const { id } = await post(`${url}/api/budgets`, { name: 'Everything', limit: 1_000_000 }, headers);
      const expense = { budgetId: id, description: 'Ferry', amount: 1.5, category: 'Travel' };
      await post(`${url}/api/expenses`, expense, headers);
      return headers;
    },
    tables: [
      {
        table: 'expense',
        columns: {
          number: 'i',
          id: "printf('%s%012d', substr(first.id, 1, 24), i)",
          spent_on: "date('2000-01-01', '+' || (i % 9000) || ' days')",
          created_at_ms: everySecond('created_at_ms'),
        },
      },
    ],
    after: (count) => `UPDATE budget SET expenses = ${count}, spent_minor = ${count} * 150`,
    requests: {
      budgets: () => '/api/budgets',
      'first page': () => '/api/expenses?limit=20',
      'by category': () => '/api/expenses?limit=20&category=Travel',
      'one day': () => '/api/expenses?limit=20&from=2010-05-05&to=2010-05-05',
    },
  },
  chat: {
    records: 'chats of many people',
    file: 'chat.sqlite',
    settings: { CHAT_RATE_LIMIT: '0', READ_RATE_LIMIT: '0', SESSION_RATE_LIMIT: '0' },
    async open(url, count) {
      if (count === 0) await post(`${url}/api/session`, { title: 'Ferries' });
      return {};
    },
    tables: [
      {
        table: 'session',
        columns: {
          id: "printf('%s%012d', substr(first.id, 1, 24), i)",
          owner: "CASE WHEN i < 1000 THEN first.owner ELSE 'person ' || (i / 1000) END",
        },
      },
    ],
    requests: {
      'own chats': () => '/api/sessions?limit=20',
      'search of own chats': () => '/api/sessions?limit=20&q=ferries',
      strategies: () => '/api/strategies',
    },
  },
  portfolio: {
    records: 'investments',
    file: 'portfolio.sqlite',
    isSeeded: true,
    async open(url) {
      return bearer((await sendRequest(`${url}/auth/token`)).json.token);
    },
    tables: [
      {
        table: 'investment',
        columns: {
          id: "printf('%s%012d', substr(first.id, 1, 24), i)",
          slug: "'clone-' || i",
          invested_on: "date('2000-01-01', '+' || (i * 7919 % 9000) || ' days')",
          sector_id: '(SELECT id FROM sector WHERE sector.rowid = 1 + i % 6)',
        },
      },
    ],
    requests: {
      'one investment': (count) => `/api/investments/clone-${Math.ceil(count / 2)}`,
      'first page': () => '/api/investments?limit=20',
      'last page': (count) => `/api/investments?limit=20&offset=${count - 20}`,
      sectors: () => '/api/sectors',
      'search for a word': () => '/api/investments?limit=20&q=germany',
    },
  },
};
