import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startQuotes, type TestQuotes } from '../testing.ts';

const dayMs = 86_400_000;
const at = fc.nat(9);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('day' as const), times: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), waits: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('publish' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), at }) },
);

test('none comes twice in a round, however long it waited', async () => {
  await using app = await startQuotes({
    environment: {
      QUOTES_MODERATION: '1',
      QUOTES_LIMIT_WRITES: '0',
      QUOTES_LIMIT_SIGN_INS: '0',
    },
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
      const history = new History(app);
      await history.add(false);
      await history.add(false);
      for (const each of steps) {
        if (each.kind === 'day') await history.days(each.times);
        else if (each.kind === 'add') await history.add(each.waits);
        else if (each.kind === 'delete') await history.remove(each.at);
        else await history.move(each.kind, each.at);
      }
      await history.end();
    }),
    { numRuns: 12 },
  );
});

test('a quote that waited for many rounds joins the one that runs', async () => {
  await using app = await startQuotes({ environment: { QUOTES_MODERATION: '1' } });
  const history = new History(app);
  for (const waits of [true, false, false, true]) await history.add(waits);
  await history.days(14);
  await history.move('publish', 0);
  await history.move('publish', 3);
  await history.days(14);
});

/** History of some quotes, with the quote of the day in this round. */
class History {
  readonly #app: TestQuotes;
  readonly #quotes = new Map<number, 'published' | 'waiting'>();
  readonly #shown = new Set<number>();

  constructor(app: TestQuotes) {
    this.#app = app;
  }

  async add(waits: boolean): Promise<void> {
    const { access } = await this.#app.signIn(waits ? 'alice' : 'dora');
    this.#quotes.set(await this.#app.add({}, access), waits ? 'waiting' : 'published');
  }

  async move(action: 'publish' | 'withdraw', at: number): Promise<void> {
    const id = this.#idAt(at);
    if (id === undefined) return;
    assert.equal((await this.#app.act('quote', action, [id])).status, 303);
    this.#quotes.set(id, action === 'publish' ? 'published' : 'waiting');
  }

  async remove(at: number): Promise<void> {
    const id = this.#idAt(at);
    if (id === undefined) return;
    const { access: token } = await this.#app.signIn('dora');
    assert.equal((await this.#app.call('DELETE', `/api/quotes/${id}/`, { token })).status, 204);
    this.#quotes.delete(id);
  }

  async days(count: number): Promise<void> {
    for (let day = 0; day < count; day++) {
      this.#app.clock.advance(dayMs);
      await this.#today();
    }
  }

  /** Leaves no quotes, so that the next history has its own. */
  async end(): Promise<void> {
    while (this.#quotes.size > 0) await this.remove(0);
  }

  async #today(): Promise<void> {
    const { status, json } = await this.#app.call('GET', '/api/quotes/today/');
    const published = [...this.#quotes].flatMap(([id, state]) => (state === 'published' ? [id] : []));
    if (published.length === 0) return assert.equal(status, 404);
    if (published.every((id) => this.#shown.has(id))) this.#shown.clear();
    const expected = published.filter((id) => !this.#shown.has(id));
    assert.ok(expected.includes(json.id), `${json.id} is not one of ${expected}`);
    this.#shown.add(json.id);
  }

  #idAt(at: number): number | undefined {
    const ids = [...this.#quotes.keys()];
    return ids[at % ids.length];
  }
}
