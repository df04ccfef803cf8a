import assert from 'node:assert/strict';
import { systemClock } from '@octavo/core';
import { until } from '@octavo/testing';
import type { SmtpSink } from '@octavo/testing/engines';
import { appCode } from '@octavo/testing/sign-in';
import { ask, unique } from './requests.ts';
import type { Replicas, Workload } from './traffic.ts';

/** Sign-ins by mails that either replica sends, and by an authenticator app. */
export function passwordless(sink: SmtpSink): Workload {
  return {
    service: 'passwordless',
    environment: {
      PASSWORDLESS_JWT_SECRET: 'a secret of all replicas, long enough',
      PASSWORDLESS_MAGIC_LINK_BASE_URL: 'http://localhost:3003/verify/magic',
      PASSWORDLESS_SMTP_HOST: '127.0.0.1',
      PASSWORDLESS_SMTP_PORT: String(sink.port),
      PASSWORDLESS_MAIL_POLL_SECONDS: '1',
      ...Object.fromEntries(limits.map((name) => [`PASSWORDLESS_LIMIT_${name}`, '0'])),
    },
    begin: async () => async (at) => {
      const email = `${unique('alice')}@example.com`;
      const pair = await signInByMail(at, sink, email);
      const headers = await refresh(at, pair);
      assert.equal((await ask(at.one, '/me', { headers })).json.email, email);
      await useAuthenticatorApp(at, headers, email);
      assert.equal((await ask(at.other, '/sessions', { headers })).json.sessions.length, 2);
      await ask(at.one, '/logout-all', { method: 'POST', headers });
      await ask(at.other, '/me', { headers, is: 401 });
    },
  };
}

const limits = [
  'POST_PER_IP',
  'MAGIC_PER_IP',
  'MAGIC_PER_ADDRESS',
  'ENROLL_PER_IP',
  'VERIFY_PER_IP',
  'REFRESH_PER_IP',
];

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

async function signInByMail({ one, other }: Replicas, sink: SmtpSink, email: string): Promise<Pair> {
  await ask(one, '/request/magic', { body: { email } });
  const mail = await until(() => sink.caught.find(({ to }) => to[0] === email));
  const text = mail.source.toString('latin1').replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const token = /verify\/magic\?token=([\w-]+)/.exec(text)?.[1];
  const pair = (await ask(other, '/verify/magic', { body: { token } })).json;
  await ask(one, '/verify/magic', { body: { token }, is: 401 });
  return pair;
}

async function refresh({ one, other }: Replicas, pair: Pair): Promise<Record<string, string>> {
  const next = (await ask(one, '/token/refresh', { body: { refresh_token: pair.refresh_token } })).json;
  await ask(other, '/token/refresh', { body: { refresh_token: pair.refresh_token }, is: 401 });
  const last = (await ask(other, '/token/refresh', { body: { refresh_token: next.refresh_token } })).json;
  return { authorization: `Bearer ${last.access_token}` };
}

async function useAuthenticatorApp(
  { one, other }: Replicas,
  headers: Record<string, string>,
  email: string,
): Promise<void> {
  const { secret } = (await ask(one, '/totp/enroll', { body: { email }, headers })).json;
  const code = appCode(secret, systemClock);
  await ask(other, '/totp/verify', { body: { email, code } });
  await ask(one, '/totp/verify', { body: { email, code }, is: 401 });
}
