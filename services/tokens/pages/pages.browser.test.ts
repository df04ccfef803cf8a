import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { assertError, password, startTokens } from '../testing.ts';

const email = 'alice@example.com';
const newPassword = 'gulls over the quay';
const browser = testBrowser();

async function signedIn(url: string): Promise<PageClient> {
  const client = new PageClient(url);
  await client.open('/register');
  const { status, headers } = await client.send('/register', { email, password });
  assert.deepEqual([status, headers.get('location')], [303, '/']);
  return client;
}

async function shown(client: PageClient): Promise<string> {
  const { status, html } = await client.open('/');
  assert.equal(status, 200);
  return html;
}

describe('without scripts', () => {
  test('forms cover everything the API does', async () => {
    await using service = await startTokens();
    const client = await signedIn(service.url);
    const page = await shown(client);
    for (const word of [email, 'token_use', 'Sessions', 'this one', 'Change password', 'Delete account']) {
      assert.ok(page.includes(word), word);
    }
    await client.send('/refresh', {});
    assert.match(await shown(client), /tokens were replaced/);
    await client.send('/email', { newEmail: 'new@example.com', emailPassword: password });
    assert.match(await shown(client), /new@example\.com/);
    await client.send('/password', { currentPassword: password, newPassword });
    assert.match(await shown(client), /Sign in with the new password/);
    await client.send('/sign-in', { email: 'new@example.com', password: newPassword });
    await shown(client);
    await client.send('/sign-out', {});
    assert.match(await shown(client), /You are signed out/);
    assert.equal(await service.metric('tokens_sessions'), 0);
    await client.send('/sign-in', { email: 'new@example.com', password: newPassword });
    await shown(client);
    await client.send('/delete', { deletePassword: newPassword });
    assert.match(await shown(client), /The account was deleted/);
    assert.equal(await service.metric('tokens_users'), 0);
  });

  test('errors appear beside the field, and input is kept except for passwords', async () => {
    await using service = await startTokens();
    const client = new PageClient(service.url);
    await client.open('/register');
    const cases: [Record<string, string>, number, RegExp][] = [
      [{ email: '', password }, 400, /E-mail address is required/],
      [{ email: 'alice', password }, 400, /not a valid e-mail address/],
      [{ email, password: 'password123' }, 400, /one of the most common passwords/],
    ];
    for (const [fields, expected, words] of cases) {
      const { status, html } = await client.send('/register', fields);
      assert.equal(status, expected);
      assert.match(html, words);
      assert.ok(html.includes(`value="${fields.email}"`) || fields.email === '');
      assert.ok(!html.includes(fields.password ?? ''));
    }
    await client.send('/register', { email, password });
    await shown(client);
    const wrong = await client.send('/email', { newEmail: 'kept@example.com', emailPassword: 'no' });
    assert.equal(wrong.status, 401);
    assert.match(wrong.html, /value="kept@example\.com"[\s\S]*The password is wrong/);
    assert.equal((await client.send('/delete', { deletePassword: '' })).status, 400);
    await shown(client);
  });

  test('sessions can be ended from the list', async () => {
    await using service = await startTokens();
    const client = await signedIn(service.url);
    const other = await service.login(email);
    const page = await shown(client);
    const ids = [...page.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id ?? '');
    assert.equal(ids.length, 2);
    await client.send('/sessions/end', { id: ids[0] ?? '' });
    assert.match(await shown(client), /The session has ended/);
    assertError(await service.get('/auth/me', other.accessToken), 401, 'INVALID_TOKEN');
    await client.send('/sessions/end-all', {});
    assert.match(await shown(client), /Sign in/);
    assert.equal(await service.metric('tokens_sessions'), 0);
  });

  test('the page renews an expired token, and says when the session has ended', async () => {
    await using service = await startTokens();
    const client = await signedIn(service.url);
    service.clock.advance(900_000);
    assert.match(await shown(client), /token_use/);
    service.clock.advance(604_800_000);
    assert.match(await shown(client), /Your session has ended/);
  });

  test('sending a form twice keeps the user logged in', async () => {
    await using service = await startTokens();
    const client = await signedIn(service.url);
    await shown(client);
    const cookies = new Map(client.cookies);
    await client.send('/refresh', {});
    const renewed = new Map(client.cookies);
    for (const [name, value] of cookies) client.cookies.set(name, value);
    const second = await client.send('/refresh', {});
    assert.deepEqual([second.status, second.headers.getSetCookie()], [303, []]);
    for (const [name, value] of renewed) client.cookies.set(name, value);
    assert.match(await shown(client), /token_use/);
  });

  test('forms count for the rate limit and the lockout, and require a CSRF token', async () => {
    await using service = await startTokens({ environment: { RATE_LIMIT_MAX: '7' } });
    const client = await signedIn(service.url);
    await client.send('/sign-out', {});
    await client.open('/');
    for (let failure = 0; failure < 5; failure++) {
      assert.equal((await client.send('/sign-in', { email, password: 'no' })).status, 401);
    }
    const locked = await client.send('/sign-in', { email, password });
    assert.equal(locked.status, 423);
    assert.match(locked.html, /Try again in 15 minutes/);
    const limited = await client.send('/sign-in', { email, password });
    assert.equal(limited.status, 429);
    assertError(await service.post('/auth/login', { email, password }), 429, 'RATE_LIMITED');
    assert.equal((await client.send('/sign-in', { email, password, _csrf: 'x' })).status, 403);
  });

  test('the page contains no tokens, is small, and has a strict CSP', async () => {
    await using service = await startTokens();
    const client = await signedIn(service.url);
    const { html, headers } = await client.open('/');
    assert.doesNotMatch(html, /eyJ/);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'self'/);
    assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.ok(html.length < 30_000, `${html.length} bytes`);
  });

  test('a page that does not exist keeps the navigation of a signed-in user', async () => {
    await using service = await startTokens();
    const client = await signedIn(service.url);
    const { status, html } = await client.open('/nothing');
    assert.equal(status, 404);
    assert.match(html, /<nav aria-label="Main">.*href="\/docs".*Page not found/s);
    assert.doesNotMatch((await new PageClient(service.url).open('/nothing')).html, /<nav/);
  });
});

describe('in a browser', { skip: browser.skip }, () => {
  test('works from registration to deletion by keyboard, with scripts', async () => {
    await using service = await startTokens();
    const { page, complaints, barriers } = await browser.open({ baseUrl: service.url, widthPx: 390 });
    await page.goto('/');
    await page.getByRole('link', { name: 'Create account' }).click();
    assert.deepEqual(await barriers(), []);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').pressSequentially('password123');
    await page.getByText('Weak: it is one of the most common passwords').waitFor();
    await page.getByLabel('Password').fill(password);
    await page.getByText('Strong').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    await page.getByText(/1[45] min \d\d s left/).waitFor();
    assert.deepEqual(await barriers(), []);
    await page.getByRole('button', { name: 'Refresh' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Both tokens were replaced').waitFor();
    await page.locator('#delete').getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('The account was deleted.').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('is accessible, wide or narrow, light or dark, with errors or without', async () => {
    await using service = await startTokens();
    await service.register(email);
    for (const [widthPx, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      const { page, complaints, barriers } = await browser.open({
        baseUrl: service.url,
        widthPx,
        colorScheme,
      });
      await page.goto('/');
      assert.deepEqual(await barriers(), []);
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('#email').getByLabel('New e-mail').fill('bob');
      await page.locator('#email').getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Change e-mail' }).click();
      await page.getByRole('alert').waitFor();
      assert.deepEqual(await barriers(), []);
      const others = complaints.filter((each) => !each.includes('400'));
      assert.deepEqual(others, []);
    }
  });
});
