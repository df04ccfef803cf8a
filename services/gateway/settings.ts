import { join } from 'node:path';
import { type Config, choice, flag, integer, refuse, type Settings, text } from '@octavo/core';
import { storedSecret } from '@octavo/core/auth';
import type { S3Options } from '@octavo/data/objects';
import { oidcSettings } from '@octavo/people/sign-in';
import { corsOriginSetting, trustProxySetting } from '@octavo/web/server';

const secretBytesMin = 32;

export const settings = {
  GATEWAY_JWT_SECRET: text({
    secret: true,
    requiredInProduction: true,
    minLength: secretBytesMin,
    help: `Key that tokens are signed with, at least ${secretBytesMin} bytes; else a random one in the data folder`,
  }),
  MFA_ASSERTION: choice(['header', 'signed'], {
    default: 'header',
    help: 'Proof of a second factor: the X-MFA-Verified header, or the amr claim of the token',
  }),
  CORS_ORIGIN: corsOriginSetting,
  TRUST_PROXY: trustProxySetting,
  ...oidcSettings,
  OIDC_DEFAULT_ROLE: choice(['viewer', 'none'], {
    default: 'viewer',
    help: 'Access of people of the OpenID provider without a role: viewer for those with a verified e-mail address, or none',
  }),
  OBJECT_STORE: flag({
    default: true,
    help: 'Stores exports: in a folder, or in S3 if S3_BUCKET is set',
  }),
  S3_ENDPOINT: text({ help: 'Address of an S3-compatible server; Amazon S3 if unset' }),
  S3_BUCKET: text({ help: 'Existing bucket to store exports in; a folder in OCTAVO_DATA if unset' }),
  S3_REGION: text({ default: 'us-east-1', help: 'Region of the bucket' }),
  S3_ACCESS_KEY_ID: text({ help: "Access key of the bucket; the AWS SDK's default credentials if unset" }),
  S3_SECRET_ACCESS_KEY: text({ secret: true, help: 'Secret of that access key' }),
  EXPORT_SPILL_MIB: integer({
    default: 1_024,
    min: 0,
    help: 'Disk space in MiB for copies of exports that wait for a slow object store; beyond it copies are dropped',
  }),
} satisfies Settings;

export type GatewayConfig = Config<typeof settings>;

/** The key for tokens, sessions and forms. */
export async function secretOf(config: GatewayConfig, dataFolder: string): Promise<string> {
  const secret = config.GATEWAY_JWT_SECRET ?? (await storedSecret(join(dataFolder, 'gateway-jwt-secret')));
  if (Buffer.byteLength(secret) < secretBytesMin) {
    refuse({ GATEWAY_JWT_SECRET: `must be at least ${secretBytesMin} bytes` });
  }
  return secret;
}

/** The bucket for exports, if one is set. Refuses settings that do not fit each other. */
export function s3Options(config: GatewayConfig): S3Options | undefined {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region } = config;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const isNoAddress = endpoint !== undefined && !URL.canParse(endpoint);
  const lacksBucket = endpoint !== undefined && bucket === undefined;
  const lacksHalf = (accessKeyId === undefined) !== (secretAccessKey === undefined);
  refuse({
    ...(isNoAddress && { S3_ENDPOINT: 'must be an address' }),
    ...(lacksBucket && { S3_BUCKET: 'is required with S3_ENDPOINT' }),
    ...(lacksHalf && { S3_ACCESS_KEY_ID: 'and S3_SECRET_ACCESS_KEY belong together' }),
  });
  if (bucket === undefined) return undefined;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return { endpoint, bucket, region, credentials };
}
