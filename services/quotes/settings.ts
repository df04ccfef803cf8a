import { type Config, flag, integer, type Settings, text } from '@octavo/core';
import { databaseSettings } from '@octavo/data';
import { accountSettings } from '@octavo/people/accounts';
import { oidcSettings } from '@octavo/people/sign-in';
import { trustProxySetting } from '@octavo/web/server';

const requestsMax = 1_000_000;

export const settings = {
  ...databaseSettings,
  ...accountSettings,
  ...oidcSettings,
  QUOTES_SECRET: text({
    secret: true,
    minLength: 32,
    help: 'Signs tokens and cookies of quotes, at least 32 bytes; kept in its database if unset',
  }),
  QUOTES_URL: text({
    help: 'Public address of the quotes, for links that are shared; that of each request if unset',
  }),
  QUOTES_OPEN_EDITING: flag({
    default: false,
    help: 'Lets any account change any quote, as in a wiki',
  }),
  QUOTES_MODERATION: flag({
    default: false,
    help: 'Holds new quotes, and changes of published ones, until staff approve them',
  }),
  QUOTES_LIMIT_WRITES: integer({
    default: 600,
    min: 0,
    max: requestsMax,
    help: 'Quotes, comments, likes and reports from one client in 5 minutes; 0 means no limit',
  }),
  QUOTES_LIMIT_SIGN_INS: integer({
    default: 300,
    min: 0,
    max: requestsMax,
    help: 'Sign-ins from one client in 5 minutes; 0 means no limit',
  }),
  QUOTES_LIMIT_SIGN_UPS: integer({
    default: 150,
    min: 0,
    max: requestsMax,
    help: 'New accounts from one client in 10 minutes; 0 means no limit',
  }),
  QUOTES_CORS_ORIGIN: text({ help: 'Origins whose pages may call the API, separated by commas, or *' }),
  TRUST_PROXY: trustProxySetting,
} satisfies Settings;

export type QuotesConfig = Config<typeof settings>;
