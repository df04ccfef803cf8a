import { type Config, flag, integer, type Settings, text } from '@octavo/core';
import { databaseSettings } from '@octavo/data';
import { leaseSettings } from '@octavo/data/jobs';
import { natsSettings } from '@octavo/data/nats';
import { insecureMailSetting, mailServerSettings } from '@octavo/mail/settings';
import { accountSettings } from '@octavo/people/accounts';
import { oidcSettings } from '@octavo/people/sign-in';
import { trustProxySetting } from '@octavo/web/server';

export const settings = {
  JWT_SECRET: text({
    secret: true,
    requiredInProduction: true,
    minLength: 32,
    help: 'Key that tokens are signed with, at least 32 bytes; outside production a random one is kept in the data folder',
  }),
  BUDGETS_RATE_LIMIT_PER_MINUTE: integer({
    default: 300,
    min: 0,
    max: 1_000_000,
    help: 'Requests of a user a minute; 0 means no limit',
  }),
  BUDGETS_RATE_LIMIT_BURST: integer({
    default: 100,
    min: 0,
    max: 1_000_000,
    help: 'Requests of a user at once; 0 means as many as in a minute',
  }),
  BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: integer({
    default: 10,
    min: 0,
    max: 1_000_000,
    help: 'Requests of a client address to /api/auth a minute; 0 means no limit',
  }),
  BUDGETS_PUBLIC_URL: text({
    help: 'Address of this service as people open it, for links in mails; default: http://localhost:PORT',
  }),
  BUDGETS_MAIL_FROM: text({ default: 'Octavo Budgets <no-reply@localhost>', help: 'Sender of the mails' }),
  BUDGETS_MAIL_FOLDER: text({
    help: 'Folder for mails where SMTP_HOST is not set; default: budgets-mails in the data folder',
  }),
  BUDGETS_SMTP_INSECURE: insecureMailSetting,
  BUDGETS_CORS_ORIGIN: text({ help: 'Origins whose pages may call the API, separated by commas, or *' }),
  BUDGETS_WORKER: flag({
    default: true,
    help: 'Runs tasks, sends mails, publishes events and adds recurring expenses in this process; off leaves that to other replicas',
  }),
  BUDGETS_OFFLINE: flag({
    default: true,
    help: 'Lets browsers keep the pages last seen, and expenses that are typed without a network; off takes the pages back from them',
  }),
  BUDGETS_NATS_NAME: text({
    default: 'budgets',
    help: 'First part of the subjects of events in NATS, and in capitals the name of their stream',
  }),
  GRPC_PORT: integer({
    min: 0,
    max: 65_535,
    help: 'Port of gRPC; default: 50053, or with PORT its port plus 53, or any free one where PORT is 0',
  }),
  BUDGETS_GRPC_CERTIFICATE_FILE: text({
    help: 'PEM file with the certificate of gRPC; with the key, gRPC uses TLS. It is read again when it changes',
  }),
  BUDGETS_GRPC_KEY_FILE: text({ help: 'PEM file with the private key of gRPC' }),
  TRUST_PROXY: trustProxySetting,
  ...accountSettings,
  ...oidcSettings,
  ...mailServerSettings,
  ...databaseSettings,
  ...natsSettings,
  ...leaseSettings,
} satisfies Settings;

export type BudgetsConfig = Config<typeof settings>;
