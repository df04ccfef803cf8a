import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AppError, Environment } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import { checkSettings, infrastructure, warnOfUnused } from './check-settings.ts';
import { loadServices, upNames } from './index.ts';

/** The settings that are refused, in alphabetical order. */
async function refused(names: readonly string[], environment: Environment): Promise<string[]> {
  try {
    await checkSettings(names, { OCTAVO_DATA: '/nonexistent/octavo', ...environment });
    return [];
  } catch (error) {
    const { reason, fields, message } = error as AppError;
    assert.equal(reason, 'CONFIG', String(error));
    for (const name of Object.keys(fields)) assert.ok(message.includes(name), message);
    return Object.keys(fields).sort();
  }
}

describe('the settings of all services that start', () => {
  test('may leave the provider to the one sign-in of the suite, unless that is off', async () => {
    const environment = { OCTAVO_DATA: '/nonexistent/octavo', OIDC_ONLY: 'on' };
    await checkSettings(upNames(), environment, { hasOneSignIn: true });
    const off = checkSettings(upNames(), { ...environment, OCTAVO_SSO: 'off' }, { hasOneSignIn: true });
    await assert.rejects(off, /OIDC_ISSUER/);
    assert.deepEqual(await refused(upNames(), environment), ['OIDC_ISSUER']);
  });

  test('are refused together, also those that do not fit each other', async () => {
    const wrong = {
      NODE_ENV: 'production',
      LOG_LEVEL: 'shout',
      OTEL_TRACES_SAMPLER_ARG: 'often',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector',
      OTEL_EXPORTER_OTLP_HEADERS: 'nothing',
      S3_ENDPOINT: 'nowhere',
      S3_ACCESS_KEY_ID: 'half',
      NATS_URL: 'http://127.0.0.1:4222',
      NATS_PREFIX: 'a.b',
      INFERENCE_URL: 'file:///etc/passwd',
      INFERENCE_LABELS: 'good,bad,ugly',
      JOB_LEASE_MS: 'long',
      STRICT_SECRETS: 'on',
      JWT_ACCESS_SECRET: 'short',
      BREACHED_PASSWORDS_FILE: '/nonexistent/sums',
      PASSWORDLESS_JWT_SECRET: 'short',
      PASSWORDLESS_MAGIC_LINK_BASE_URL: 'sign-in',
      PASSWORDLESS_WEBAUTHN_RP_ID: 'Example.com',
      PASSWORDLESS_WEBAUTHN_ORIGIN: 'example.com',
      PASSWORDLESS_EMAIL_FROM: 'nobody',
      PASSWORDLESS_SMTP_HOST: 'mail.example.com',
      PASSWORDLESS_SMTP_USERNAME: 'octavo',
      PASSWORDLESS_SMTP_CA_FILE: '/nonexistent/ca',
      PASSWORDLESS_DKIM_DOMAIN: 'example.com',
      PASSWORDLESS_MAIL_TEMPLATES: '/nonexistent/templates',
      PASSWORDLESS_DATABASE_PATH: '/nonexistent/a.sqlite',
      PASSWORDLESS_DATABASE_URL: 'postgres://127.0.0.1/octavo',
    };
    assert.deepEqual(await refused(upNames(), wrong), [
      'BREACHED_PASSWORDS_FILE',
      'BUDGETS_PUBLIC_URL',
      'CHAT_SECRET',
      'GATEWAY_JWT_SECRET',
      'INFERENCE_LABELS',
      'INFERENCE_MODEL',
      'INFERENCE_URL',
      'JOB_LEASE_MS',
      'JWT_ACCESS_SECRET',
      'JWT_SECRET',
      'LOG_LEVEL',
      'NATS_PREFIX',
      'NATS_URL',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_TRACES_SAMPLER_ARG',
      'PASSWORDLESS_DATABASE_PATH',
      'PASSWORDLESS_DKIM_PRIVATE_KEY_FILE',
      'PASSWORDLESS_DKIM_SELECTOR',
      'PASSWORDLESS_EMAIL_FROM',
      'PASSWORDLESS_JWT_SECRET',
      'PASSWORDLESS_MAGIC_LINK_BASE_URL',
      'PASSWORDLESS_MAIL_TEMPLATES',
      'PASSWORDLESS_SMTP_CA_FILE',
      'PASSWORDLESS_SMTP_PASSWORD',
      'PASSWORDLESS_WEBAUTHN_ORIGIN',
      'PASSWORDLESS_WEBAUTHN_RP_ID',
      'PORTFOLIO_JWT_SECRET',
      'S3_ACCESS_KEY_ID',
      'S3_BUCKET',
      'S3_ENDPOINT',
      'SMTP_HOST',
    ]);
  });

  test('are accepted as they are by default', async () => {
    assert.deepEqual(await refused(upNames(), {}), []);
  });

  test('are not called unfit because of one that is invalid by itself', async () => {
    const halves = { S3_ACCESS_KEY_ID: 'octavo', S3_SECRET_ACCESS_KEY_FILE: '/nonexistent/secret' };
    assert.deepEqual(await refused(['gateway'], halves), ['S3_SECRET_ACCESS_KEY']);
    assert.deepEqual(await refused(['posts'], { NODE_ENV: 'x', HOST: '0.0.0.0' }), ['NODE_ENV']);
  });

  test('need a token for RPC in production where other machines can reach it', async () => {
    const far = {
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      GATEWAY_JWT_SECRET: 'a secret of more than thirty-two bytes',
    };
    const addresses = { POSTSVC_ADDR: '10.0.0.1:50051', AUTHSVC_ADDR: '127.0.0.1:50052' };
    const cases: [string, Environment, string[]][] = [
      ['posts', far, ['RPC_TOKEN']],
      ['authz', far, ['RPC_TOKEN']],
      ['posts', { ...far, RPC_TOKEN: 'between us' }, []],
      ['posts', { ...far, HOST: '127.0.0.1' }, []],
      ['posts', { ...far, NODE_ENV: 'development' }, []],
      // The backends are in its process.
      ['gateway', far, []],
      ['gateway', { ...far, ...addresses }, ['RPC_TOKEN']],
      ['gateway', { ...far, ...addresses, POSTSVC_ADDR: '[::1]:50051' }, []],
    ];
    for (const [name, environment, expected] of cases) {
      assert.deepEqual(await refused([name], environment), expected, JSON.stringify([name, environment]));
    }
  });

  test('are those of the process: mails are only checked where they are sent', async () => {
    const production = {
      NODE_ENV: 'production',
      PASSWORDLESS_JWT_SECRET: 'a third secret of more than thirty-two bytes',
      PASSWORDLESS_MAGIC_LINK_BASE_URL: 'https://example.com/verify/magic',
    };
    assert.deepEqual(await refused(['passwordless'], production), ['PASSWORDLESS_SMTP_HOST']);
    assert.deepEqual(await refused(['passwordless'], { ...production, PASSWORDLESS_WORKER: 'off' }), []);
    assert.deepEqual(await refused(['passwordless-worker'], production), ['PASSWORDLESS_SMTP_HOST']);
  });
});

describe('infrastructure that is set', () => {
  /** The warning; undefined without one. */
  async function warning(names: readonly string[], environment: Environment): Promise<string | undefined> {
    const lines: string[] = [];
    const log = createLog({ service: 'test', destination: { write: (line) => lines.push(line) } });
    await warnOfUnused(names, environment, log);
    assert.ok(lines.length <= 1);
    return lines[0] && JSON.parse(lines[0]).msg;
  }
  const everything = Object.fromEntries(infrastructure.map((name) => [name, 'set']));

  test('is what some service declares', async () => {
    const declared = (await loadServices()).flatMap(({ settings }) => Object.keys(settings));
    assert.deepEqual(
      infrastructure.filter((name) => !declared.includes(name)),
      [],
    );
  });

  test('is named at start if none of the services uses it', async () => {
    const nats = { NATS_URL: 'nats://127.0.0.1:4222', SMTP_HOST: '' };
    const file = { NATS_URL_FILE: '/run/secrets/nats' };
    const store = { S3_BUCKET: 'octavo', S3_ENDPOINT: 'http://127.0.0.1:9000', SMTP_HOST: '127.0.0.1' };
    const cases: [string[], Environment, string | undefined][] = [
      [['quotes'], nats, 'NATS_URL is set, but quotes does not use it'],
      [['quotes'], file, 'NATS_URL is set, but quotes does not use it'],
      [['budgets'], nats, undefined],
      [['budgets'], store, 'S3_BUCKET and S3_ENDPOINT are set, but budgets does not use them'],
      [['polls', 'quotes'], nats, 'NATS_URL is set, but polls and quotes do not use it'],
      [['polls', 'posts'], nats, undefined],
      // The posts are in its process, or elsewhere.
      [['gateway'], nats, undefined],
      [
        ['gateway'],
        { ...nats, POSTSVC_ADDR: '127.0.0.1:50051' },
        'NATS_URL is set, but gateway does not use it',
      ],
      [upNames(), everything, undefined],
    ];
    for (const [names, environment, expected] of cases)
      assert.equal(await warning(names, environment), expected, JSON.stringify([names, environment]));
  });
});
