import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { newOrderedId } from '@octavo/core';
import { until } from '@octavo/testing';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { alice, inTestMode, type TestService } from '../testing.ts';
import { attempt, follow, register, signInto, startProvider, token } from './testing.ts';

await inTestMode((world) => {
  describe('signing out', () => {
    test('an application signs its user out everywhere, and all are told', async (t) => {
      const service = await startProvider(t, world);
      const [app, other] = await applications(t, service);
      const { browser, tokens } = await signInto(service, app, alice);
      const second = await signInto2(service, other, browser);
      const query = new URLSearchParams({
        id_token_hint: tokens.id_token,
        post_logout_redirect_uri: 'https://app.example/bye',
        state: 'a-state',
      });
      const page = await browser.open(`/oidc/session/end?${query}`);
      assert.equal(page.status, 200);
      assert.match(page.html, /data-submit/);
      assert.match(
        page.headers.get('content-security-policy') ?? '',
        /form-action 'self' https:\/\/app\.example/,
      );
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
      const left = await browser.send('/oidc/session/end/confirm', { xsrf, logout: 'yes' });
      assert.equal(left.location, 'https://app.example/bye?state=a-state');
      assert.match((await follow(browser, attempt(app).path)).html, /Mail me a link/);
      assert.doesNotMatch(
        (await browser.open('/')).html,
        /Sign out everywhere/,
        'the sign-in here has ended, too',
      );
      for (const refresh_token of [tokens.refresh_token, second]) {
        assert.equal((await token(service, app, { grant_type: 'refresh_token', refresh_token })).status, 400);
      }
      const told = [await app.told(), await other.told()];
      const keys = createLocalJWKSet((await service.get('/oidc/jwks')).json);
      for (const [index, body] of told.entries()) {
        const logoutToken = new URLSearchParams(body).get('logout_token') ?? '';
        const { payload } = await jwtVerify(logoutToken, keys, {
          issuer: service.url,
          audience: [app, other][index]?.id ?? '',
        });
        assert.ok(payload.sub && payload.sid && payload.events && payload.nonce === undefined);
      }
    });

    test('the page after signing out does not sign out by itself', async (t) => {
      const service = await startProvider(t, world);
      const { browser } = await signInto(service, await register(service), alice);
      const page = await browser.open('/oidc/session/end/success');
      assert.match(page.html, /You are signed out/);
      assert.match((await browser.open('/')).html, /Sign out everywhere/);
    });

    test('expired records are deleted, and no others', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { tokens } = await signInto(service, app, alice);
      const { deleteExpiredRows } = await import('../cleanup.ts');
      const { database, clock } = service;
      const nowMs = clock.now();
      const kinds = async () =>
        (await database.kysely.selectFrom('oidc_record').select('kind').distinct().execute())
          .map(({ kind }) => kind)
          .toSorted();
      clock.advance(3_600_000 * 2);
      await deleteExpiredRows({ database, clock, auditDays: 90 });
      clock.set(nowMs);
      assert.deepEqual(await kinds(), ['Grant', 'RefreshToken', 'Session']);
      const renewed = await token(service, app, {
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
      });
      assert.equal(renewed.status, 200, renewed.text);
    });

    test('signing out on the pages here, or being signed out by staff, signs out everywhere', async (t) => {
      const service = await startProvider(t, world);
      const [app] = await applications(t, service);
      const { browser, tokens } = await signInto(service, app, alice);
      await browser.open('/');
      assert.equal((await browser.send('/sign-out', {})).status, 303);
      await app.told();
      const { refresh_token } = tokens;
      assert.equal((await token(service, app, { grant_type: 'refresh_token', refresh_token })).status, 400);
      assert.match((await follow(browser, attempt(app).path)).html, /Mail me a link/);
    });

    test('an application that is down is told again, for an hour', async (t) => {
      const service = await startProvider(t, world);
      const [app] = await applications(t, service, 503);
      const { browser } = await signInto(service, app, alice);
      await browser.open('/');
      await browser.send('/sign-out', {});
      await app.told();
      const waiting = () => service.database.kysely.selectFrom('oidc_logout').selectAll().execute();
      // The last write of a try, with a time from the clock: before it, the clock must not go on.
      await until(async () => (await waitOf(service, app.id)).failed_tries === 1);
      assert.equal((await waiting())[0]?.tries, 1);
      app.status = 200;
      service.clock.advance(6_000);
      await app.told();
      await until(async () => (await waiting()).length === 0);
    });

    test('one application that hangs delays no other', async (t) => {
      const service = await startProvider(t, world);
      const [app, deaf] = await applications(t, service);
      deaf.status = undefined;
      const { browser } = await signInto(service, app, alice);
      const session = await service.database.kysely.selectFrom('user').select('id').executeTakeFirstOrThrow();
      // More than a round took of all applications together.
      const waiting = Array.from({ length: 30 }, (_, index) => ({
        id: newOrderedId(),
        client_id: deaf.id,
        user_id: session.id,
        sid: `sid-${index}`,
        tries: 0,
        next_try_at_ms: service.clock.now() - 1_000,
        expires_at_ms: service.clock.now() + 3_600_000,
      }));
      await service.database.write(({ kysely }) =>
        kysely.insertInto('oidc_logout').values(waiting).execute(),
      );
      await until(async () => deaf.bodies.length > 0);
      await browser.open('/');
      await browser.send('/sign-out', {});
      await app.told();
      assert.equal(deaf.bodies.length, 4, 'all of these are still waiting for a response');
      deaf.hangUp();
      const wait = () => waitOf(service, deaf.id);
      await until(async () => (await wait()).failed_tries === 1);
      assert.equal(
        (await wait()).next_try_at_ms,
        service.clock.now() + 5_000,
        'the application is left alone',
      );
      deaf.status = 200;
      service.clock.advance(5_000);
      const left = () => service.database.kysely.selectFrom('oidc_logout').select('id').execute();
      await until(async () => (await left()).length === 0);
      assert.equal(deaf.bodies.length, 34);
      assert.deepEqual(await wait(), { failed_tries: 0, next_try_at_ms: 0 });
    });

    test('a message that an application refuses does not delay others to it', async (t) => {
      const service = await startProvider(t, world);
      const [app] = await applications(t, service, 400);
      const { browser } = await signInto(service, app, alice);
      await browser.open('/');
      await browser.send('/sign-out', {});
      await app.told();
      app.status = 200;
      const { browser: next } = await signInto(service, app, alice);
      await next.open('/');
      await next.send('/sign-out', {});
      await app.told();
    });

    test('a sign-in that expires leaves the applications alone', async (t) => {
      const service = await startProvider(t, world);
      const [app] = await applications(t, service);
      const { tokens } = await signInto(service, app, alice);
      const { deleteExpiredRows } = await import('../cleanup.ts');
      const nowMs = service.clock.now();
      service.clock.advance(9 * 86_400_000);
      await deleteExpiredRows({ database: service.database, clock: service.clock, auditDays: 90 });
      service.clock.set(nowMs);
      assert.deepEqual(await service.database.kysely.selectFrom('session').selectAll().execute(), []);
      const links = await service.database.kysely.selectFrom('oidc_sign_in').selectAll().execute();
      assert.deepEqual(
        links.map(({ session_id, outlives }) => [session_id, outlives]),
        [[null, 1]],
      );
      assert.ok(tokens);
    });
  });
});

/** The wait of an application that does not answer, and its unanswered tries. */
function waitOf({ database }: TestService, id: string) {
  return database.kysely
    .selectFrom('oidc_client')
    .select(['failed_tries', 'next_try_at_ms'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/** Applications that hear of sign-outs. One without a status never responds. */
async function applications(
  t: { after(end: () => void): void },
  service: TestService,
  status: number | undefined = 200,
) {
  const make = async (name: string) => {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      bodies.push(await text(request));
      if (result.status !== undefined) response.writeHead(result.status).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const hangUp = () => server.closeAllConnections();
    t.after(() => {
      hangUp();
      server.close();
    });
    const { port } = server.address() as { port: number };
    const app = await register(service, {
      name,
      postLogouts: ['https://app.example/bye'],
      backChannel: `http://127.0.0.1:${port}/back-channel`,
    });
    /** The next message. */
    const told = async (): Promise<string> => {
      await until(async () => bodies.length > 0);
      return bodies.shift() ?? '';
    };
    const result = { ...app, status: status as number | undefined, bodies, hangUp, told };
    return result;
  };
  return [await make('App'), await make('Other')] as const;
}

async function signInto2(
  service: TestService,
  app: Awaited<ReturnType<typeof applications>>[1],
  browser: Awaited<ReturnType<typeof signInto>>['browser'],
) {
  const { exchange, responseOf } = await import('./testing.ts');
  const { path, verifier } = attempt(app);
  const { code } = responseOf(await follow(browser, path));
  return (await exchange(service, app, { code, verifier })).json.refresh_token as string;
}
