import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemsOf, refuse, rejectSettings } from '@octavo/core';
import type { ServiceContext } from '@octavo/data/service';
import {
  type Dkim,
  type Mailer,
  openFolderMailer,
  openSmtpMailer,
  parseSender,
  type Sender,
} from '@octavo/mail';
import { mailCredentials, mayShowMails } from '@octavo/mail/settings';
import type { PasswordlessConfig } from '../../settings.ts';

/** The sender of the mails. */
export function senderOf(config: PasswordlessConfig): Sender {
  try {
    return parseSender(config.PASSWORDLESS_EMAIL_FROM);
  } catch (error) {
    return rejectSettings({ PASSWORDLESS_EMAIL_FROM: (error as Error).message });
  }
}

/** Refuses settings with which no mail could be sent. */
export function checkMailer(config: PasswordlessConfig, context: Place): void {
  const { PASSWORDLESS_SMTP_HOST: host } = config;
  const hasNone = host === undefined && mailFolderOf(config, context) === undefined;
  const noServer = 'is required with NODE_ENV=production, to send mails';
  refuse(
    problemsOf([
      () => hasNone && refuse({ PASSWORDLESS_SMTP_HOST: noServer }),
      () => host && credentialsOf(config),
      () => host && authoritiesOf(config),
      () => dkimOf(config),
    ]),
  );
}

/** The mail server if one is set, else a folder; in production only a folder that is set. */
export async function chooseMailer(config: PasswordlessConfig, context: ServiceContext): Promise<Mailer> {
  const dkim = dkimOf(config);
  const folder = mailFolderOf(config, context);
  if (folder !== undefined) return openFolderMailer({ folder, dkim });
  return openSmtpMailer({
    host: config.PASSWORDLESS_SMTP_HOST as string,
    port: config.PASSWORDLESS_SMTP_PORT,
    credentials: credentialsOf(config),
    insecure: config.PASSWORDLESS_SMTP_INSECURE,
    authorities: authoritiesOf(config),
    dkim,
  });
}

/** Returns the folder where mails are saved instead of being sent; undefined if they are sent. */
function mailFolderOf(config: PasswordlessConfig, { environment, dataFolder }: Place): string | undefined {
  if (config.PASSWORDLESS_SMTP_HOST !== undefined) return undefined;
  if (config.PASSWORDLESS_MAIL_FOLDER !== undefined) return config.PASSWORDLESS_MAIL_FOLDER;
  return environment === 'production' ? undefined : join(dataFolder, 'mails');
}

/** The folder whose mails the pages show. Those mails open every account, so it is never shown in production or to other machines. */
export function shownMailFolder(config: PasswordlessConfig, context: ServiceContext): string | undefined {
  return mayShowMails(context) ? mailFolderOf(config, context) : undefined;
}

type Place = Pick<ServiceContext, 'environment' | 'dataFolder'>;

function authoritiesOf({ PASSWORDLESS_SMTP_CA_FILE: file }: PasswordlessConfig): string | undefined {
  return file === undefined ? undefined : readPem('PASSWORDLESS_SMTP_CA_FILE', file);
}

function credentialsOf(config: PasswordlessConfig) {
  const { PASSWORDLESS_SMTP_USERNAME: username, PASSWORDLESS_SMTP_PASSWORD: password } = config;
  return mailCredentials({ username, password }, 'PASSWORDLESS_');
}

function dkimOf(config: PasswordlessConfig): Dkim | undefined {
  const {
    PASSWORDLESS_DKIM_DOMAIN: domain,
    PASSWORDLESS_DKIM_SELECTOR: selector,
    PASSWORDLESS_DKIM_PRIVATE_KEY_FILE: file,
  } = config;
  if (domain === undefined && selector === undefined && file === undefined) return undefined;
  const given = { DOMAIN: domain, SELECTOR: selector, PRIVATE_KEY_FILE: file };
  const missing = Object.entries(given).filter(([, value]) => value === undefined);
  refuse(
    Object.fromEntries(missing.map(([name]) => [`PASSWORDLESS_DKIM_${name}`, 'is required to sign mails'])),
  );
  const privateKey = readRsaKey('PASSWORDLESS_DKIM_PRIVATE_KEY_FILE', file as string);
  return { domain: domain as string, selector: selector as string, privateKey };
}

function readRsaKey(setting: string, file: string): string {
  const text = readText(setting, file);
  try {
    if (createPrivateKey(text).asymmetricKeyType === 'rsa') return text;
  } catch {}
  return rejectSettings({ [setting]: `names ${file}, which is not a private RSA key in PEM` });
}

function readPem(setting: string, file: string): string {
  const text = readText(setting, file);
  if (!text.includes('-----BEGIN ')) refuse({ [setting]: `names ${file}, which is not PEM` });
  return text;
}

function readText(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return rejectSettings({ [setting]: `cannot be read: ${(error as NodeJS.ErrnoException).code}` });
  }
}
