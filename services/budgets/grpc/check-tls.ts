import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { describeSystemError, rejectSettings } from '@octavo/core';
import type { BudgetsConfig } from '../settings.ts';

const names = { certificate: 'BUDGETS_GRPC_CERTIFICATE_FILE', key: 'BUDGETS_GRPC_KEY_FILE' } as const;

/** Refuses TLS of gRPC with one file of two, with a file that cannot be read or is not PEM, and with a key of another certificate. */
export function checkGrpcTls(config: BudgetsConfig): void {
  const { [names.certificate]: certificate, [names.key]: key } = config;
  if (certificate === undefined && key === undefined) return;
  if (certificate === undefined) rejectSettings({ [names.certificate]: `is required with ${names.key}` });
  if (key === undefined) rejectSettings({ [names.key]: `is required with ${names.certificate}` });
  const cert = readPem(names.certificate, certificate);
  const privateKey = readPem(names.key, key);
  checkPart(names.certificate, 'must hold a certificate in PEM', { cert });
  checkPart(names.key, 'must hold a private key in PEM, without a password', { key: privateKey });
  checkPart(names.key, `must hold the key of the certificate in ${names.certificate}`, {
    cert,
    key: privateKey,
  });
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException;
    const remedy = code === 'ENOENT' ? `${path} does not exist` : describeSystemError(error, path)?.message;
    rejectSettings({ [name]: `must name a file that can be read: ${remedy ?? `${path} (${code})`}` });
  }
}

function checkPart(name: string, problem: string, part: { cert?: string; key?: string }): void {
  try {
    createSecureContext(part);
  } catch {
    rejectSettings({ [name]: problem });
  }
}
