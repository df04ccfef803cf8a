import { problemsOf, refuse } from '@octavo/core';
import type { PasswordlessConfig } from '../../settings.ts';
import type { Site } from '../../site.ts';
import type { RelyingParty } from '../passkey.ts';

/** The relying party: as set, else from the address of the magic links. */
export function createParty(config: PasswordlessConfig, site: Site): () => RelyingParty {
  const {
    PASSWORDLESS_WEBAUTHN_RP_ID: id,
    PASSWORDLESS_WEBAUTHN_RP_NAME: name,
    PASSWORDLESS_WEBAUTHN_USER_VERIFICATION: userVerification,
  } = config;
  const origins = originsOf(config);
  return () => ({ id: id ?? site.host, name, origins: origins ?? [site.origin], userVerification });
}

/** Refuses values that no browser accepts. */
export function checkParty(config: PasswordlessConfig): void {
  const { PASSWORDLESS_WEBAUTHN_RP_ID: id } = config;
  const isNoDomain = id !== undefined && !domain.test(id);
  refuse({
    ...problemsOf([() => checkOrigins(config)]),
    ...(isNoDomain && {
      PASSWORDLESS_WEBAUTHN_RP_ID: 'must be a domain in lower case, without scheme and port',
    }),
  });
}

function checkOrigins(config: PasswordlessConfig): void {
  const { PASSWORDLESS_WEBAUTHN_RP_ID: id } = config;
  if (!originsOf(config)?.every((each) => id !== undefined && !isWithin(each, id))) return;
  refuse({
    PASSWORDLESS_WEBAUTHN_ORIGIN: `must hold an origin at ${id}, as PASSWORDLESS_WEBAUTHN_RP_ID says`,
  });
}

function originsOf({ PASSWORDLESS_WEBAUTHN_ORIGIN: origins }: PasswordlessConfig): string[] | undefined {
  return origins?.split(',').map((each) => originOf(each.trim()));
}

const domain = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Origins are compared as text, so they must be written as browsers write them; apps have an `android:` one. */
function originOf(text: string): string {
  if (/^android:apk-key-hash:[\w-]+$/.test(text)) return text;
  const origin = URL.canParse(text) ? new URL(text).origin : undefined;
  if (origin === undefined || !/^https?:/.test(origin) || !sameOrigin(text, origin)) {
    refuse({ PASSWORDLESS_WEBAUTHN_ORIGIN: `${text} is no origin, such as https://example.com` });
  }
  return origin as string;
}

function isWithin(origin: string, id: string): boolean {
  const { hostname } = new URL(origin);
  return hostname === id || hostname.endsWith(`.${id}`);
}

function sameOrigin(text: string, origin: string): boolean {
  return text === origin || text === `${origin}/`;
}
