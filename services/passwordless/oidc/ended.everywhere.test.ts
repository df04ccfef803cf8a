import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient, until } from '@octavo/testing';
import { alice, bob, claimsOf, inTestMode, type TestService } from '../testing.ts';
import { codeOf } from '../testing-pages.ts';
import {
  attempt,
  exchange,
  follow,
  goOn,
  register,
  responseOf,
  signInHere,
  signInto,
  startProvider,
  type TestApplication,
  token,
} from './testing.ts';

interface Ways {
  readonly [name: string]: (browser: PageClient, service: TestService) => Promise<unknown>;
}

/** All ways in which a sign-in ends by something else than its age. */
const ways: Ways = {
  'signing out on the pages': (browser) => browser.send('/sign-out', {}),
  'ending the session in the list': async (browser) => {
    const page = await browser.open('/');
    const id = /name="id" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
    await browser.send('/account/sessions/end', { id });
  },
  'signing out everywhere': (browser) => browser.send('/account/sessions/end-all', {}),
  'signing out everywhere by the API': async (_browser, service) =>
    service.call('POST', '/logout-all', { token: (await service.signIn(alice)).access_token }),
  'deleting the account': async (_browser, service) =>
    service.call('DELETE', '/me', { token: (await service.signIn(alice)).access_token }),
  'signing in as another user': async (browser, service) => {
    await browser.open('/sign-in');
    await browser.send('/sign-in', { email: bob });
    await browser.send('/sign-in/code', { email: bob, code: await codeOf(service, bob) });
  },
  'an application': async (browser) => {
    const page = await browser.open('/oidc/session/end');
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
    await browser.send('/oidc/session/end/confirm', { xsrf, logout: 'yes' });
  },
};

await inTestMode((world) => {
  describe('a sign-in that has ended is never served', () => {
    for (const [way, end] of Object.entries(ways)) {
      test(`after ${way}`, async (t) => {
        const service = await startProvider(t, world);
        const app = await register(service);
        const { browser, tokens } = await signInto(service, app, alice);
        const begun = attempt(app);
        const { code } = responseOf(await follow(browser, begun.path));
        await browser.open('/');
        const before = copyOf(service, browser);
        await end(browser, service);
        // At once: nothing below waits for work in the background.
        assert.equal((await exchange(service, app, { code, verifier: begun.verifier })).status, 400, 'code');
        const renewal = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
        assert.equal((await token(service, app, renewal)).json.error, 'invalid_grant');
        assert.equal((await service.get('/oidc/me', tokens.access_token)).status, 401, 'access token');
        for (const client of [copyOf(service, before), browser]) await asksWhoIsThere(client, app);
        assert.doesNotMatch((await before.open('/')).html, /Sign out everywhere/);
      });
    }

    test('who signs in next in the same browser is who the application gets', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser } = await signInto(service, app, alice);
      await browser.open('/');
      await ways['signing in as another user']?.(browser, service);
      const { path, verifier } = attempt(app);
      const { code } = responseOf(await follow(browser, path));
      const next = await exchange(service, app, { code, verifier });
      assert.equal(claimsOf(next.json.id_token).email, bob);
      const renewal = { grant_type: 'refresh_token', refresh_token: next.json.refresh_token };
      await until(async () => (await rowsOf(service, 'Session')).length === 1);
      assert.equal((await token(service, app, renewal)).status, 200, 'they stay signed in');
    });

    test('by a request that began before it, and saves it again', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser } = await signInto(service, app, alice);
      const saved = await rowsOf(service, 'Session');
      await browser.open('/');
      const before = copyOf(service, browser);
      await browser.send('/sign-out', {});
      await until(async () => (await rowsOf(service, 'Session')).length === 0);
      await service.database.write(({ kysely }) => kysely.insertInto('oidc_record').values(saved).execute());
      await asksWhoIsThere(before, app);
    });

    for (const [next, ends] of [
      [alice, true],
      [bob, false],
    ] as const) {
      test(`a request that waited while the session ended goes on with who signs in: ${next}`, async (t) => {
        const service = await startProvider(t, world);
        const app = await register(service);
        const { browser } = await signInto(service, app, alice);
        const { path, verifier } = attempt(app, { prompt: 'login' });
        await follow(browser, path);
        if (ends) {
          const { access_token } = await service.signIn(alice);
          await service.call('POST', '/logout-all', { token: access_token });
        }
        service.clock.set(Date.now() + 2_000);
        const { code } = responseOf(await signInHere(service, browser, next));
        const { json } = await exchange(service, app, { code, verifier });
        assert.equal(claimsOf(json.id_token).email, next);
      });
    }

    test('one that expired is asked for again, and applications go on', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser, tokens } = await signInto(service, app, alice);
      const nowMs = service.clock.now();
      await service.database.write(({ kysely }) =>
        kysely.updateTable('session').set({ expires_at_ms: nowMs }).execute(),
      );
      await asksWhoIsThere(copyOf(service, browser), app);
      const renewal = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      assert.equal((await token(service, app, renewal)).status, 200);
    });
  });
});

/** Another browser with the cookies that one has now. */
function copyOf(service: TestService, browser: PageClient): PageClient {
  const copy = new PageClient(service.url);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  copy.token = browser.token;
  return copy;
}

/** Asserts that the provider asks for a sign-in: with and without a page, and in every request. */
async function asksWhoIsThere(browser: PageClient, app: TestApplication): Promise<void> {
  const silent = responseOf(await browser.open(attempt(app, { prompt: 'none' }).path));
  assert.deepEqual([silent.error, silent.code], ['login_required', undefined]);
  const page = await browser.open(attempt(app).path);
  assert.match(page.location, /\/oidc\/interaction\//);
  await goOn(browser, page);
}

function rowsOf({ database }: TestService, kind: string) {
  return database.kysely.selectFrom('oidc_record').selectAll().where('kind', '=', kind).execute();
}
