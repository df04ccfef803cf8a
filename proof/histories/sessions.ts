import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@octavo/core';
import { refreshLeewayMs } from '@octavo/core/jwt';
import { appCode } from '@octavo/testing/sign-in';
import { History } from './history.ts';
import { type FamilyInput, type FamilyOutput, familyModel } from './models.ts';
import {
  anyOf,
  Broken,
  type Cluster,
  certainly,
  mapped,
  type Response,
  send,
  type Workload,
} from './replicas.ts';
import { explain } from './votes.ts';

/** The default of `PASSWORDLESS_REFRESH_RETRY_SECONDS`. */
const retryMs = 10_000;

interface Family {
  readonly history: History<FamilyInput, FamilyOutput>;
  readonly firstToken: string;
  /** Tokens that a client has, oldest first. */
  readonly tokens: string[];
  accessToken: string;
}

/** Families of refresh tokens: exchanges by several clients at once, uses, and replays of old tokens. */
export async function sessions(cluster: Cluster): Promise<Workload> {
  const at = () => anyOf(cluster, 'passwordless');
  const families: Family[] = [];
  const late = await signIn(at);
  const rotateOnce = refresh(late, at, late.firstToken);
  families.push(late);
  const live = async () => {
    const family = await signIn(at);
    families.push(family);
    for (let round = 0; round < 3; round++) {
      const active = family.tokens.at(-1) ?? '';
      await Promise.all([refresh(family, at, active), refresh(family, at, active), use(family, at)]);
      await use(family, at);
    }
    // A token that is two generations old ends the family.
    const old = family.tokens.at(-3);
    if (old) await Promise.all([refresh(family, at, old), use(family, at), use(family, at)]);
    await Promise.all([use(family, at), refresh(family, at, family.tokens.at(-1) ?? '')]);
  };
  return {
    clients: [live, live],
    async check() {
      await rotateOnce;
      await replayLate(late, at);
      return families.flatMap(({ history, firstToken }, index) =>
        explain(`family ${index}`, history, familyModel(firstToken, { leewayMs: refreshLeewayMs, retryMs })),
      );
    },
  };
}

/** The predecessor of the active token, after the leeway. */
async function replayLate(family: Family, at: () => string): Promise<void> {
  const rotated = family.history.operations.find(({ output }) => typeof output === 'object');
  const waitMs = (rotated?.returnedAt ?? 0) + refreshLeewayMs + 50 - performance.now();
  if (waitMs > 0) await delay(waitMs);
  await use(family, at);
  await refresh(family, at, family.firstToken);
  await use(family, at);
}

async function refresh(family: Family, at: () => string, refreshToken: string): Promise<void> {
  await family.history.record({ refresh: refreshToken }, async () => {
    const body = { refresh_token: refreshToken };
    return mapped(await send(`${at()}/token/refresh`, { body }), ({ status, json, text }): FamilyOutput => {
      if (status === 401) return 'refused';
      if (status !== 200) throw new Broken(text);
      if (!family.tokens.includes(json.refresh_token)) family.tokens.push(json.refresh_token);
      family.accessToken = json.access_token;
      return { token: json.refresh_token };
    });
  });
}

async function use(family: Family, at: () => string): Promise<void> {
  const headers = { authorization: `Bearer ${family.accessToken}` };
  await family.history.look({ use: true }, async () =>
    mapped(await send(`${at()}/me`, { headers }), ({ status }) => (status === 200 ? 'accepted' : 'refused')),
  );
}

let people = 0;

/** A new user, by an authenticator app. */
async function signIn(at: () => string): Promise<Family> {
  const pair = await certainlySignedIn(at);
  const { access_token: accessToken, refresh_token: firstToken } = pair.json;
  return { history: new History(), firstToken, tokens: [firstToken], accessToken };
}

/** A code of an authenticator app counts once: if its outcome is unknown, another user signs in. */
async function certainlySignedIn(at: () => string): Promise<Response> {
  for (;;) {
    const email = `reader-${people++}@example.com`;
    const { json } = await certainly(at, '/totp/enroll', { body: { email } });
    const code = appCode(json.secret, systemClock);
    const outcome = await send(`${at()}/totp/verify`, { body: { email, code } });
    if (typeof outcome !== 'string' && outcome.ok.status === 200) return outcome.ok;
  }
}
