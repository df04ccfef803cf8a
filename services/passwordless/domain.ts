import type { Database } from '#kit/db/index.ts';
import type { ServiceContext } from '#kit/service.ts';
import { AccessTokens } from './access-tokens.ts';
import { Accounts } from './accounts.ts';
import type { Alerts } from './alerts.ts';
import { Audit } from './audit.ts';
import type { Keys } from './keys.ts';
import { MagicLinks } from './magic-links.ts';
import type { MailQueue } from './mail-queue.ts';
import { MailSeal } from './mail-seal.ts';
import { createParty, PasskeySignIns, Passkeys } from './passkeys/index.ts';
import { RecoveryCodes } from './recovery-codes.ts';
import { Sessions } from './sessions.ts';
import type { PasswordlessConfig } from './settings.ts';
import type { Site } from './site.ts';
import type { Tables } from './tables.ts';
import { TotpSignIns } from './totp-sign-ins.ts';
import { Totps } from './totps.ts';

interface DomainParts {
  readonly config: PasswordlessConfig;
  readonly context: ServiceContext;
  readonly site: Site;
  readonly keys: Keys;
  readonly database: Database<Tables>;
  readonly mails: MailQueue;
  readonly alerts: Alerts;
}

/** All that the edges call. */
export type Domain = ReturnType<typeof createDomain>;

export function createDomain({ config, context, site, keys, database, mails, alerts }: DomainParts) {
  const { clock, log, metrics } = context;
  const audit = new Audit({ log, clock, metrics });
  const enrollmentWithoutProof = config.PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF;
  const codeKeys = keys.all('code-hmac');
  const seal = new MailSeal(keys.all('totp-enc'));
  const sessions = new Sessions({
    database,
    accessTokens: new AccessTokens({ config, site, keys, clock }),
    mails,
    audit,
    clock,
    refreshSeconds: config.PASSWORDLESS_REFRESH_TOKEN_EXPIRY_SECONDS,
    sessionSecondsMax: config.PASSWORDLESS_SESSION_MAX_AGE_SECONDS,
    retrySeconds: config.PASSWORDLESS_REFRESH_RETRY_SECONDS,
    refreshKey: keys.current('refresh'),
  });
  const parts = { database, sessions, mails, audit, clock };
  const party = createParty(config, site);
  const passkeyContext = { ...parts, alerts, party, decoyKeys: keys.all('decoy'), enrollmentWithoutProof };
  return {
    site,
    party,
    sessions,
    magicLinks: new MagicLinks({
      ...parts,
      site,
      codeKeys,
      lifetimeSeconds: config.PASSWORDLESS_MAGIC_LINK_EXPIRY_SECONDS,
      perAddressMax: config.PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS,
      allowsSignUp: config.PASSWORDLESS_ALLOW_SIGNUP,
    }),
    totps: new Totps({
      ...parts,
      alerts,
      seal,
      issuer: config.PASSWORDLESS_WEBAUTHN_RP_NAME,
      enrollmentWithoutProof,
    }),
    totpSignIns: new TotpSignIns({ ...parts, seal }),
    passkeys: new Passkeys(passkeyContext),
    passkeySignIns: new PasskeySignIns(passkeyContext),
    recoveryCodes: new RecoveryCodes({ ...parts, codeKeys }),
    accounts: new Accounts(parts),
  };
}
