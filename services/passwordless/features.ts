import type { Clock } from '@octavo/core';
import { Encryption } from '@octavo/core/auth';
import type { Background } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { ServiceContext } from '@octavo/data/service';
import { Accounts } from './account/index.ts';
import { Audit } from './audit.ts';
import type { Keys } from './keys/keys.ts';
import { MagicLinks } from './magic-links/index.ts';
import type { MailQueue } from './mail/index.ts';
import { createParty, PasskeySignIns, Passkeys } from './passkeys/index.ts';
import { RecoveryCodes } from './recovery-codes/index.ts';
import { AccessTokens, Sessions } from './sessions/index.ts';
import type { PasswordlessConfig } from './settings.ts';
import type { Site } from './site.ts';
import type { Tables } from './store/store.ts';
import { TotpSetup, TotpSignIns } from './totp/index.ts';
import { UnprovenEnrollment } from './users/index.ts';

/** Creates the parts of each feature. Only `service.ts` sees them together. */
export function createFeatures(parts: {
  readonly config: PasswordlessConfig;
  readonly context: ServiceContext;
  readonly site: Site;
  readonly keys: Keys;
  readonly database: Database<Tables>;
  readonly mails: MailQueue;
  readonly background: Background;
}) {
  const { config, context, site, keys, database, mails, background } = parts;
  const { clock, log, metrics } = context;
  const audit = new Audit({ log, clock, metrics });
  const sessions = createSessions({ config, site, keys, database, mails, audit, clock });
  const shared = { database, sessions, mails, audit, clock };
  const unprovenEnrollment = new UnprovenEnrollment({
    database,
    mails,
    audit,
    background,
    mode: config.PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF,
    allowsSignUp: config.PASSWORDLESS_ALLOW_SIGNUP,
  });
  const codeKeys = keys.keysFor('code-hmac');
  const encryption = new Encryption(keys.keysFor('totp-enc'));
  const relyingParty = createParty(config, site);
  const passkeys = { ...shared, unprovenEnrollment, relyingParty, decoyKeys: keys.keysFor('decoy') };
  return {
    sessions,
    audit,
    party: relyingParty,
    magicLinks: new MagicLinks({
      ...shared,
      site,
      codeKeys,
      lifetimeSeconds: config.PASSWORDLESS_MAGIC_LINK_EXPIRY_SECONDS,
      perAddressMax: config.PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS,
      allowsSignUp: config.PASSWORDLESS_ALLOW_SIGNUP,
    }),
    totpSetup: new TotpSetup({
      ...shared,
      unprovenEnrollment,
      encryption,
      issuer: config.PASSWORDLESS_WEBAUTHN_RP_NAME,
    }),
    totpSignIns: new TotpSignIns({ ...shared, encryption }),
    passkeys: new Passkeys(passkeys),
    passkeySignIns: new PasskeySignIns(passkeys),
    recoveryCodes: new RecoveryCodes({ ...shared, codeKeys }),
    accounts: new Accounts(shared),
  };
}

export type Features = ReturnType<typeof createFeatures>;

/** The sessions alone, for what signs people in without a visitor. */
export function createSessions(parts: {
  readonly config: PasswordlessConfig;
  readonly site: Site;
  readonly keys: Keys;
  readonly database: Database<Tables>;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
}): Sessions {
  const { config, site, keys, database, mails, audit, clock } = parts;
  return new Sessions({
    database,
    mails,
    audit,
    clock,
    accessTokens: new AccessTokens({ config, site, keys, clock }),
    refreshSeconds: config.PASSWORDLESS_REFRESH_TOKEN_EXPIRY_SECONDS,
    sessionSecondsMax: config.PASSWORDLESS_SESSION_MAX_AGE_SECONDS,
    retrySeconds: config.PASSWORDLESS_REFRESH_RETRY_SECONDS,
    refreshKey: keys.current('refresh'),
  });
}
