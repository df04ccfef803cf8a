import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { testFolder } from './folder.ts';

/** PEM files. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Reason for the lack of certificates: `test('…', { skip: opensslIsMissing() }, …)`. With `CI=true` that is an error. */
export function opensslIsMissing(): string | false {
  try {
    openssl(['version']);
    return false;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    return 'openssl is not installed';
  }
}

/** Creates a certificate of localhost that signs itself and is valid for some days; a negative number has ended already. */
export function createCertificate(days = 1): TestCertificate {
  const folder = testFolder('certificate');
  const [certificate, key, request, extensions] = ['certificate', 'key', 'request', 'extensions'].map(
    (name) => join(folder, `${name}.pem`),
  ) as [string, string, string, string];
  const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key];
  // Clients look trusted certificates up by this name, so that each needs its own.
  openssl(['req', '-new', ...ecKey, '-subj', `/CN=${basename(folder)}`, '-out', request]);
  writeFileSync(extensions, 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const signed = ['-signkey', key, '-days', String(days), '-extfile', extensions];
  openssl(['x509', '-req', '-in', request, ...signed, '-out', certificate]);
  return { certificate, key };
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}
