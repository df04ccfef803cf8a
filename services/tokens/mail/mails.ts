import { join } from 'node:path';
import { refuse, rejectSettings } from '@octavo/core';
import type { CheckContext, ServiceContext } from '@octavo/data/service';
import { parseSender, type Sender } from '@octavo/mail';
import { MailCircuitBreaker, MailDelivery, type MailOutcome, MailWorker } from '@octavo/mail/delivery';
import { mailCredentials, mayShowMails, openSharedMailer } from '@octavo/mail/settings';
import { Counter } from 'prom-client';
import type { TokensConfig } from '../settings.ts';
import { MemoryMailQueue, type NewMail, type WaitingMail } from './memory-queue.ts';

const mailsMax = 10_000;
const retries = { triesMax: 8, firstMs: 5_000, maxMs: 600_000 };
const pauseMs = 30_000;
const deadlineMs = 45_000;
const pollMs = 2_000;
const graceMs = 6_000;
const concurrency = 3;
/** Sending starts after the response, so that its time does not tell whether a mail is sent. */
const wakeAfterMs = 50;

/** Sends mails in the background. */
export interface Mails {
  /** Name of the sender, for texts. */
  readonly service: string;
  /** Number of mails that wait. */
  readonly size: number;
  /** Queues a mail. If too many wait, it is dropped and the log says so. */
  send(mail: NewMail): void;
}

/** Opens the queue and its worker; undefined if this server sends no mails. */
export async function openMails(
  config: TokensConfig,
  context: ServiceContext,
  stack: AsyncDisposableStack,
): Promise<Mails | undefined> {
  const { clock, log, metrics } = context;
  if (!canSend(config, context)) {
    if (config.SMTP_HOST !== undefined)
      log.warn('TOKENS_URL is not set: passwords cannot be reset by mail, and addresses not verified');
    return undefined;
  }
  const folder = folderOf(config, context) ?? '';
  const mailer = stack.use(await openSharedMailer(config, { folder, insecure: config.TOKENS_SMTP_INSECURE }));
  const queue = new MemoryMailQueue({ clock, mailsMax });
  const sender = senderOf(config);
  const breaker: MailCircuitBreaker = new MailCircuitBreaker({
    mailer,
    clock,
    log,
    unreachableMs: retries.firstMs,
    misconfiguredMs: pauseMs,
    onClosed: () => worker.wake(),
  });
  const bodiesOf = (mail: WaitingMail) => mail;
  const delivery = new MailDelivery({
    mailer,
    bodiesOf,
    sender,
    clock,
    breaker,
    policy: retries,
    deadlineMs,
  });
  const tries = new Counter({
    name: 'tokens_mail_tries_total',
    help: 'Tries to send a mail, by result',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  let timer: NodeJS.Timeout | undefined;
  stack.defer(() => {
    clearTimeout(timer);
    if (queue.size > 0) log.warn({ mails: queue.size }, 'mails that waited are lost');
  });
  const worker: MailWorker<WaitingMail> = stack.use(
    new MailWorker({
      claims: queue,
      delivery,
      breaker,
      mailer,
      clock,
      log,
      metrics: { count: (outcome: MailOutcome) => tries.inc({ outcome }) },
      concurrency,
      pollMs,
      graceMs,
    }),
  );
  return {
    service: sender.name || 'Accounts',
    get size() {
      return queue.size;
    },
    send(mail) {
      if (!queue.add(mail)) log.error({ kind: mail.kind }, 'a mail was dropped: too many are waiting');
      timer ??= setTimeout(() => {
        timer = undefined;
        worker.wake();
      }, wakeAfterMs);
    },
  };
}

/** Refuses a sender that cannot be used, and verification that must not be skipped but cannot be sent. */
export function checkMails(config: TokensConfig, context: CheckContext): void {
  senderOf(config);
  if (config.SMTP_HOST !== undefined)
    mailCredentials({ username: config.SMTP_USERNAME, password: config.SMTP_PASSWORD });
  if (config.TOKENS_URL !== undefined) originOf(config.TOKENS_URL);
  if (config.EMAIL_VERIFICATION === 'required' && !canSend(config, context))
    refuse({
      EMAIL_VERIFICATION: 'cannot be required in production without SMTP_HOST and TOKENS_URL, to send mails',
    });
}

/** The folder whose mails the pages show; undefined if they show none. */
export function shownFolder(config: TokensConfig, context: ServiceContext): string | undefined {
  return mayShowMails(context) && config.SMTP_HOST === undefined ? folderOf(config, context) : undefined;
}

/** The public address, for links. It never comes from a request, whose `Host` could name another site. */
export function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.username;
  return isOrigin
    ? url.origin
    : rejectSettings({ TOKENS_URL: 'must be an http or https address without a path' });
}

function canSend(config: TokensConfig, context: CheckContext): boolean {
  if (context.environment !== 'production') return true;
  const hasWay = config.SMTP_HOST !== undefined || config.TOKENS_MAIL_FOLDER !== undefined;
  return hasWay && config.TOKENS_URL !== undefined;
}

function folderOf(
  { TOKENS_MAIL_FOLDER: folder }: TokensConfig,
  { environment, dataFolder }: ServiceContext,
): string | undefined {
  return folder ?? (environment === 'production' ? undefined : join(dataFolder, 'accounts-mails'));
}

function senderOf({ TOKENS_MAIL_FROM }: TokensConfig): Sender {
  try {
    return parseSender(TOKENS_MAIL_FROM);
  } catch (error) {
    return rejectSettings({ TOKENS_MAIL_FROM: (error as Error).message });
  }
}
