import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { startQuotes } from './testing.ts';

const audience = 'https://quotes.example';
const provider = await TestProvider.start();
provider.people
  .set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] })
  .set('erin', { sub: 'erin', preferred_username: 'erin', email: 'erin@example.com', email_verified: true });
const quotes = await startQuotes({
  environment: { ...provider.settingsFor('quotes'), OIDC_ADDRESS: audience },
});
provider.addClient('quotes', audience);
after(async () => {
  await quotes[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const newWalker = () => new Walker(new PageClient(quotes.url));

test('a reader signs in with the provider, comments, and signs out of both', async () => {
  provider.person = 'erin';
  const walker = newWalker();
  const { client } = walker;
  const id = await quotes.add();
  const page = await client.open(`/accounts/login/?next=/quotes/${id}/`);
  assert.match(page.html, /Sign in with Octavo[\s\S]*name="password"/);
  assert.equal((await walker.signIn(`/quotes/${id}/`)).location, `/quotes/${id}/`);
  const quote = await client.open(`/quotes/${id}/`);
  assert.match(quote.html, /erin/);
  assert.equal((await client.open('/admin/')).status, 302);
  const account = await client.open('/account/');
  assert.match(account.html, /Your account is connected to Octavo/);
  const out = await client.send('/accounts/logout/', {});
  assert.match(out.headers.get('refresh') ?? '', /session\/end/);
  assert.match((await client.open(`/quotes/${id}/`)).html, /Sign in/);
});

test('who has an account connects it', async () => {
  provider.people.set('bob-there', { sub: 'bob-there', preferred_username: 'other' });
  provider.person = 'bob-there';
  const walker = new Walker(await quotes.browser('bob'));
  const page = await walker.client.open('/account/');
  assert.match(page.html, /Connect with Octavo/);
  const lead = await walker.client.send('/sign-in/oidc/connect', { next: '/account/' });
  await walker.finish(lead.headers.get('refresh')?.replace('0; url=', '') ?? '');
  const elsewhere = newWalker();
  await elsewhere.signIn('/');
  assert.match((await elsewhere.client.open('/')).html, /bob/);
});

test('the API takes access tokens of the provider for this service, and no others', async () => {
  const id = await quotes.add();
  const path = `/api/quotes/${id}/comments/`;
  const comment = (token: string) => quotes.call('POST', path, { token, body: { text: 'Well said.' } });
  const now = Math.floor(Date.now() / 1_000);
  provider.person = 'frank';
  const good = await provider.accessToken(audience, { preferred_username: 'frank' });
  const made = await comment(good);
  assert.equal(made.status, 201, made.text);
  assert.match(made.text, /frank/);
  const [head = '', payload = '', signature = ''] = good.split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  const refused = {
    'for another service': provider.accessToken('https://polls.example'),
    'for the address at which it is served': provider.accessToken(quotes.url),
    'that is an ID token': provider.sign({ aud: audience, sub: 'frank', client_id: 'app' }, { typ: 'JWT' }),
    'without a type': provider.sign({ aud: audience, sub: 'frank', client_id: 'app' }),
    'that has expired': provider.accessToken(audience, { iat: now - 900, exp: now - 300 }),
    'without an end': provider.accessToken(audience, { exp: undefined }),
    'without a client': provider.accessToken(audience, { client_id: undefined }),
    'without an id': provider.accessToken(audience, { jti: undefined }),
    'without a subject': provider.accessToken(audience, { sub: undefined }),
    'that is bound to a key': provider.accessToken(audience, { cnf: { jkt: 'x' } }),
    'of no algorithm': `${none}.${payload}.`,
    'without its signature': `${head}.${payload}.`,
    'with another signature': `${head}.${payload}.${signature.slice(0, -8)}AAAAAAAA`,
    'of a key that is not published': TestProvider.start().then(async (stranger) => {
      const token = await stranger.accessToken(audience, { iss: provider.url });
      await stranger[Symbol.asyncDispose]();
      return token;
    }),
  };
  for (const [name, token] of Object.entries(refused))
    assert.equal((await comment(await token)).status, 401, `a token ${name}`);
  const { length } = provider.requests;
  for (let count = 0; count < 5; count++) await comment(await refused['of a key that is not published']);
  assert.deepEqual(
    provider.requests.slice(length).filter((path) => path === '/jwks'),
    [],
    'the keys are read again at most once a minute',
  );
});
