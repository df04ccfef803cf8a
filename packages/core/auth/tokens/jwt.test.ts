import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { jwtVerify, SignJWT } from 'jose';
import { FakeClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { createJwt, type JwtOptions, readKeyId } from './jwt.ts';

const secret = 'alice keeps this to herself, all 40 bytes';
const key = new TextEncoder().encode(secret);
const clock = new FakeClock();
const nowSeconds = clock.now() / 1_000;
const good = { iss: 'house', aud: 'guests', sub: 'alice', iat: nowSeconds, exp: nowSeconds + 60 };

function jwt(options: Partial<JwtOptions> = {}) {
  return createJwt({ secret, issuer: 'house', audience: 'guests', clock, ...options });
}

function mint(claims: object, header: object = { alg: 'HS256', typ: 'JWT' }, signedWith = secret): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${createHmac('sha256', signedWith).update(input).digest('base64url')}`;
}

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

function refused(token: string, reason = 'INVALID_TOKEN', verifier = jwt()): void {
  assert.throws(
    () => verifier.verify(token),
    (error) => error instanceof AppError && error.code === 'unauthenticated' && error.reason === reason,
    token,
  );
}

test('a signed token gives its claims back', () => {
  const claims = jwt().verify(jwt().sign({ sub: 'alice', uid: 7 }, 60));
  const { jti, ...rest } = claims;
  assert.deepEqual(rest, { ...good, uid: 7 });
  assert.match(String(jti), /^[0-9a-f-]{36}$/);
});

test('jose verifies what we sign', async () => {
  const token = jwt({ type: 'at+jwt' }).sign({ sub: 'alice' }, 60);
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    algorithms: ['HS256'],
    issuer: 'house',
    audience: 'guests',
    typ: 'at+jwt',
    currentDate: new Date(clock.now()),
  });
  assert.equal(payload.sub, 'alice');
  assert.deepEqual(protectedHeader, { alg: 'HS256', typ: 'at+jwt' });
});

test('we verify what jose signs', async () => {
  const token = await new SignJWT({ uid: 7 })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('house')
    .setAudience(['others', 'guests'])
    .setSubject('alice')
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + 60)
    .sign(key);
  assert.equal(jwt().verify(token).uid, 7);
});

test('another key, algorithm, issuer, audience or type is rejected', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  refused(mint(good, undefined, 'charlie made this one up by himself, you see'));
  refused(mint(good, { alg: 'RS256' }, pem));
  refused(mint(good, { alg: 'RS256' }));
  refused(mint(good, { alg: 'HS512' }));
  refused(mint(good, { alg: 'hs256' }));
  refused(mint(good, { typ: 'JWT' }));
  refused(mint({ ...good, iss: 'other house' }));
  refused(mint({ ...good, iss: ['house'] }));
  refused(mint({ ...good, aud: ['others'] }));
  refused(mint({ ...good, aud: undefined }));
  refused(mint({ ...good, sub: 7 }));
  refused(mint(good, { alg: 'HS256', typ: 'rt+jwt' }), 'INVALID_TOKEN', jwt({ type: 'at+jwt' }));
  refused(mint(good, { alg: 'HS256' }), 'INVALID_TOKEN', jwt({ type: 'at+jwt' }));
  assert.ok(jwt({ type: 'at+jwt' }).verify(mint(good, { alg: 'HS256', typ: 'application/AT+JWT' })));
});

test('alg none is rejected in any spelling', () => {
  for (const alg of ['none', 'None', 'NONE', '', null, 0, undefined]) {
    refused(`${encode({ alg })}.${encode(good)}.`);
    refused(mint(good, { alg }));
  }
});

test('times are checked with the leeway', () => {
  refused(mint({ ...good, exp: nowSeconds - 5 }), 'TOKEN_EXPIRED');
  assert.ok(jwt().verify(mint({ ...good, exp: nowSeconds - 4 })));
  refused(mint({ ...good, iat: nowSeconds + 6 }));
  assert.ok(jwt().verify(mint({ ...good, iat: nowSeconds + 5 })));
  refused(mint({ ...good, nbf: nowSeconds + 6 }));
  for (const exp of [undefined, null, `${nowSeconds + 60}`, nowSeconds + 60.5, 1e300, -1])
    refused(mint({ ...good, exp }));
  for (const iat of [undefined, null, `${nowSeconds}`, nowSeconds - 0.5, -1]) refused(mint({ ...good, iat }));
});

test('iat can have more leeway than the expiry', () => {
  const strict = jwt({ leewaySeconds: 0, issuedAheadSeconds: 60 });
  assert.ok(strict.verify(mint({ ...good, iat: nowSeconds + 60, exp: nowSeconds + 61 })));
  refused(mint({ ...good, iat: nowSeconds + 61, exp: nowSeconds + 90 }), 'INVALID_TOKEN', strict);
  refused(mint({ ...good, exp: nowSeconds }), 'TOKEN_EXPIRED', strict);
});

test('a token names its key', () => {
  assert.equal(readKeyId(jwt({ keyId: '2f1a', type: 'at+jwt' }).sign({ sub: 'alice' }, 60)), '2f1a');
  assert.equal(readKeyId(jwt().sign({ sub: 'alice' }, 60)), undefined);
  for (const token of ['', 'a', '.', 'bnVsbA.x.y', `${encode({ kid: 7 })}.x.y`])
    assert.equal(readKeyId(token), undefined);
});

test('an expired token with a wrong signature is INVALID_TOKEN', () => {
  refused(mint({ ...good, exp: nowSeconds - 60 }, undefined, 'charlie made this one up by himself'));
});

test('a signature has one spelling', () => {
  const token = mint(good);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(token.at(-1) as string);
  for (const spare of [1, 2, 3]) refused(token.slice(0, -1) + alphabet[last + spare]);
  for (const tail of ['=', '.', '\n', ' ', 'A', '.AAAA']) refused(token + tail);
});

test('malformed tokens are rejected', () => {
  const signature = mint(good).split('.')[2] as string;
  for (const token of ['', '.', '..', 'a', 'a.b', `.${signature}`, `..${signature}`, `é.é.${signature}`])
    refused(token);
  for (const payload of ['', 'null', '[]', '"alice"', '7', '{', '\u0000']) refused(signed(payload));
  refused(mint(good, { alg: 'HS256', crit: ['exp'] }));
  refused(mint(good, { alg: 'HS256', crit: [] }));
  refused(mint(good, { alg: 'HS256', crit: null }));
  refused(mint(good, { alg: 'HS256', crit: ['b64'], b64: false }));
});

test('a cached token expires', () => {
  const ownClock = new FakeClock();
  const remembering = jwt({ clock: ownClock, cacheSize: 2 });
  const token = remembering.sign({ sub: 'alice' }, 60);
  const first = remembering.verify(token);
  assert.equal(remembering.verify(token), first);
  for (const sub of ['bob', 'charlie']) remembering.verify(remembering.sign({ sub }, 60));
  assert.deepEqual(remembering.verify(token), first);
  ownClock.advance(65_000);
  refused(token, 'TOKEN_EXPIRED', remembering);
});

function signed(payload: string): string {
  const input = `${encode({ alg: 'HS256' })}.${encode(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}
