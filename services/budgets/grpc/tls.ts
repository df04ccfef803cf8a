import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { experimental, type ServerCredentials } from '@grpc/grpc-js';
import type { Log } from '@octavo/core';

/** Interval at which the files are looked at. */
const refreshIntervalMs = 1_000;

/** PEM files of a certificate and its key. */
export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
}

/** Returns TLS for new connections with the certificate that is in the files at the time. */
export function tlsCredentials(files: TlsFiles, log: Log): ServerCredentials {
  return experimental.createCertificateProviderServerCredentials(
    new CertificateFiles(files, log),
    null,
    false,
  );
}

type Certificate = experimental.IdentityCertificateUpdate;
type Listener = experimental.IdentityCertificateUpdateListener;

/** Follows two files. While they do not hold a certificate and its key, as between the writing of one and the other, the last one is in use. */
class CertificateFiles implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  readonly #log: Log;
  readonly #listeners = new Set<Listener>();
  #certificate: Certificate;

  constructor(files: TlsFiles, log: Log) {
    this.#files = files;
    this.#log = log;
    this.#certificate = readCertificate(files);
  }

  addIdentityCertificateListener(listener: Listener): void {
    this.#listeners.add(listener);
    process.nextTick(() => listener(this.#certificate));
    if (this.#listeners.size > 1) return;
    for (const path of Object.values(this.#files))
      watchFile(path, { interval: refreshIntervalMs, persistent: false }, this.#refresh);
  }

  removeIdentityCertificateListener(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    for (const path of Object.values(this.#files)) unwatchFile(path, this.#refresh);
  }

  addCaCertificateListener(): void {}

  removeCaCertificateListener(): void {}

  #refresh = () => {
    try {
      this.#certificate = readCertificate(this.#files);
    } catch (error) {
      this.#log.warn(
        { err: error },
        'gRPC keeps its certificate: the files do not hold another one with its key',
      );
      return;
    }
    this.#log.info('gRPC uses the certificate that is in its file now');
    for (const listener of this.#listeners) listener(this.#certificate);
  };
}

function readCertificate(files: TlsFiles): Certificate {
  const certificate = readFileSync(files.certificate);
  const privateKey = readFileSync(files.key);
  createSecureContext({ cert: certificate, key: privateKey });
  return { certificate, privateKey };
}
