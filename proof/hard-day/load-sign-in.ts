import { totpCode } from '@octavo/core/auth';
import { type Stage, soon, type Workload } from './workload.ts';

const password = 'ferries wait in fog';
/** Digits of base 32 (RFC 4648). */
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Sessions that are refreshed, magic links with their mails, and codes of clients whose clocks are wrong. */
export function signInLoad(stage: Stage): Workload[] {
  return [passwordSessions(stage), magicLinks(stage), linkSessions(stage), wrongClocks(stage)];
}

/** Registers, and refreshes over and over. The service keeps accounts in memory: what was there before its last end may be lost. */
function passwordSessions({ ledger, clientOf, endsOf, mark }: Stage): Workload {
  const client = clientOf('tokens');
  let session: { readonly token: string; readonly ends: number } | undefined;
  let turn = 0;
  return {
    name: 'tokens: refreshes',
    async step() {
      const ends = endsOf('tokens');
      if (session === undefined) {
        const body = { email: `${mark}-${turn++}@example.com`, password };
        const { outcome, json } = await client.send('/auth/register', { body, expected: [409] });
        if (outcome === 'acknowledged') session = { token: json.tokens.refreshToken, ends };
        return outcome === 'acknowledged';
      }
      const body = { refreshToken: session.token };
      const { outcome, status, json, text } = await client.send('/auth/refresh', {
        body,
        expected: [401, 404],
      });
      if (outcome === 'acknowledged') session = { ...session, token: json.tokens.refreshToken };
      else if (status === 401 || status === 404) {
        if (endsOf('tokens') === session.ends)
          ledger.report(`tokens: a refresh token that was given out is refused: ${text}`);
        session = undefined;
      } else if (outcome === 'unknown') session = undefined;
      ledger.record('refresh of tokens', String(turn++), outcome);
      return outcome === 'acknowledged';
    },
  };
}

/** A link is asked for, its mail arrives once, and it signs in. */
function magicLinks({ ledger, clientOf, engines, mark }: Stage): Workload {
  const client = clientOf('passwordless');
  const { sink } = engines.mail;
  const mailsTo = (address: string) => sink.caught.filter(({ to }) => to.includes(address));
  let turn = 0;
  return {
    name: 'passwordless: links by mail',
    async step() {
      const email = `link-${mark}-${turn++}@example.com`;
      const { outcome } = await client.send('/request/magic', { body: { email } });
      ledger.record('mail', email, outcome);
      if (outcome !== 'acknowledged') return false;
      if (!(await soon(async () => mailsTo(email).length > 0, 90_000))) return false;
      const token = tokenIn(mailsTo(email)[0]?.source);
      const verified = await client.send('/verify/magic', { body: { token }, expected: [401] });
      ledger.record('use of a link', email, verified.status === 401 ? 'refused' : verified.outcome);
      if (verified.status === 401) ledger.report('passwordless: a link is refused at its first use');
      if (verified.outcome !== 'acknowledged') return false;
      const again = await client.send('/verify/magic', { body: { token }, expected: [401, 400] });
      if (again.outcome === 'acknowledged') ledger.report('passwordless: a link signed in twice');
      return true;
    },
    async verify() {
      const wanted = ledger.keys('mail', 'acknowledged');
      await soon(async () => wanted.every((email) => mailsTo(email).length > 0));
      const messages = new Set(sink.caught.map(({ to, messageId }) => `${to[0]} ${messageId}`));
      const addresses = [...messages].map((message) => message.replace(/ .*/, ''));
      ledger.compare(
        'mail',
        addresses.filter((address) => address.startsWith(`link-${mark}-`)),
      );
    },
  };
}

/** One sign-in that is refreshed over and over: what was given out is accepted, across restarts and replicas. */
function linkSessions({ ledger, clientOf, engines, mark }: Stage): Workload {
  const client = clientOf('passwordless');
  const email = `session-${mark}@example.com`;
  let token: string | undefined;
  let wasUnknown = false;
  let used = 0;
  let turn = 0;
  const signIn = async () => {
    const { outcome } = await client.send('/request/magic', { body: { email } });
    if (outcome !== 'acknowledged') return undefined;
    const mails = () => engines.mail.sink.caught.filter(({ to }) => to.includes(email));
    if (!(await soon(async () => mails().length > used, 90_000))) return undefined;
    used = mails().length;
    const body = { token: tokenIn(mails().at(-1)?.source) };
    return (await client.send('/verify/magic', { body, expected: [401] })).json?.refresh_token as
      | string
      | undefined;
  };
  return {
    name: 'passwordless: refreshes',
    async step() {
      if (token === undefined) {
        token = await signIn();
        return token !== undefined;
      }
      const { outcome, status, json, text } = await client.send('/token/refresh', {
        body: { refresh_token: token },
        expected: [401],
      });
      if (status === 401)
        ledger.report(`passwordless: a refresh token that was given out is refused: ${text}`);
      ledger.record('refresh', String(turn++), status === 401 ? 'refused' : outcome);
      if (outcome === 'acknowledged') token = json.refresh_token;
      // A refresh that is unknown is asked for again, and gives the token that the first one gave. A frozen process may carry the
      // first one out much later, which would end the session as a replay, so that it is not used any longer.
      if (status === 401 || (outcome === 'acknowledged' && wasUnknown)) token = undefined;
      wasUnknown = outcome === 'unknown' || (outcome === 'refused' && wasUnknown);
      return outcome === 'acknowledged';
    },
  };
}

/** An authenticator app with the right time signs in once by a code; one whose clock is ten minutes wrong does not. */
function wrongClocks({ ledger, clientOf, mark }: Stage): Workload {
  const client = clientOf('passwordless');
  let turn = 0;
  return {
    name: 'passwordless: codes of wrong clocks',
    async step() {
      const email = `clock-${mark}-${turn++}@example.com`;
      const enrolled = await client.send('/totp/enroll', { body: { email } });
      if (enrolled.outcome !== 'acknowledged') return false;
      const step = Math.floor(Date.now() / 30_000);
      const verify = async (minutes: number) => {
        const code = totpCode(secretOf(enrolled.json.secret), step + minutes * 2);
        return client.send('/totp/verify', { body: { email, code }, expected: [401] });
      };
      const [slow, right, again] = [await verify(-10), await verify(0), await verify(0)];
      if (slow.outcome === 'acknowledged') ledger.report('passwordless: a code of ten minutes ago signs in');
      if (right.outcome === 'acknowledged' && again.outcome === 'acknowledged')
        ledger.report('passwordless: a code signs in twice');
      // A code is refused once it is older than a step, as after a wait for an engine.
      const isLate = Math.floor(Date.now() / 30_000) > step;
      if (right.status === 401 && !isLate) ledger.report('passwordless: a code of the right time is refused');
      return right.outcome === 'acknowledged';
    },
  };
}

/** The bytes of a secret in base 32. */
function secretOf(secret: string): Uint8Array {
  const bits = [...secret].map((digit) => digits.indexOf(digit).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/** The token of the link in a mail, whose text may be quoted-printable. */
function tokenIn(source: Buffer | undefined): string {
  const text = (source?.toString() ?? '').replace(/=\r?\n/g, '').replaceAll('=3D', '=');
  return /[?&]token=([\w-]+)/.exec(text)?.[1] ?? '';
}
