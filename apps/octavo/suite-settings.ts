import { choice, flag, integer, parseSites, type Settings, text } from '@octavo/core';
import { tracingSettings } from '@octavo/core/tracing';
import { rpcSettings } from '@octavo/rpc';

/** Settings that every service shares. */
export const suiteSettings = {
  OCTAVO_DATA: text({ default: './data', help: 'Folder for databases, stored files and generated secrets' }),
  HOST: text({ default: '127.0.0.1', help: 'Address to listen on' }),
  PORT: integer({ min: 0, max: 65_535, help: 'Port to listen on; 0 picks a free one' }),
  NODE_ENV: choice(['development', 'test', 'production'], {
    default: 'development',
    help: 'production refuses missing secrets and has no demo accounts',
  }),
  LOG_LEVEL: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    help: 'Least severe level to log',
  }),
  OCTAVO_SSO: flag({
    default: true,
    help: 'One sign-in for all services of `octavo up`, unless OIDC_ISSUER names another provider',
  }),
  SUITE_SITES: {
    ...text({
      help: 'Public addresses of all services, as name=https://... with commas between, which pages link to; else those in this process',
    }),
    parse(value: string) {
      parseSites(value);
      return value;
    },
  },
  ...tracingSettings,
  ...rpcSettings,
} satisfies Settings;
