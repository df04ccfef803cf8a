import { newId, problemsOf, refuse } from '@octavo/core';
import { Encryption } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import type { ServiceContext } from '@octavo/data/service';
import { MailCircuitBreaker, MailDelivery, MailWorker } from '@octavo/mail/delivery';
import type { Keys } from '../keys/keys.ts';
import type { PasswordlessConfig } from '../settings.ts';
import { MailClaimStore } from './delivery/claim-store.ts';
import { startHeartbeat } from './delivery/heartbeat.ts';
import { chooseMailer, senderOf } from './delivery/mailer.ts';
import { MailNotifier } from './delivery/notifier.ts';
import { MailMetrics } from './metrics.ts';
import { MailQueue } from './queue.ts';
import type { MailRow, MailTables } from './store.ts';
import { MailTexts } from './texts.ts';

const secondMs = 1_000;
const dayMs = 86_400_000;
const graceMs = 6_000;

interface MailParts {
  readonly config: PasswordlessConfig;
  readonly context: ServiceContext;
  readonly database: Database<MailTables>;
  readonly keys: Keys;
  /** True if this process sends mails. */
  readonly runsWorker: boolean;
}

/** The e-mail queue of a process, and its worker if it has one. */
interface OpenMail extends AsyncDisposable {
  readonly queue: MailQueue;
}

/** Opens the queue, and starts a worker if this process is to send mails. */
export async function openMail(parts: MailParts): Promise<OpenMail> {
  await using stack = new AsyncDisposableStack();
  const { config, database, keys } = parts;
  const { clock, metrics, dataFolder } = parts.context;
  const notifier = stack.use(new MailNotifier(dataFolder));
  const encryption = new Encryption(keys.keysFor('queue'));
  const texts = textsOf(config);
  const mailMetrics = new MailMetrics(metrics, database, clock);
  const worker = parts.runsWorker ? await startWorker(stack, parts, { encryption, mailMetrics }) : undefined;
  if (worker) stack.use(notifier.listen(() => worker.wake()));
  const onQueued = () => {
    worker?.wake();
    notifier.notify();
  };
  const queue = new MailQueue({ clock, encryption, texts, onQueued });
  worker?.wake();
  const owned = stack.move();
  return { queue, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Refuses templates and a sender that cannot be used. */
export function checkMails(config: PasswordlessConfig): void {
  refuse(problemsOf([() => textsOf(config), () => senderOf(config)]));
}

function textsOf(config: PasswordlessConfig): MailTexts {
  return new MailTexts({
    service: config.PASSWORDLESS_WEBAUTHN_RP_NAME,
    folder: config.PASSWORDLESS_MAIL_TEMPLATES,
  });
}

async function startWorker(
  stack: AsyncDisposableStack,
  { config, context, database }: MailParts,
  { encryption, mailMetrics }: { encryption: Encryption; mailMetrics: MailMetrics },
): Promise<MailWorker<MailRow>> {
  const { clock, log } = context;
  const mailer = stack.use(await chooseMailer(config, context));
  const leaseMs = config.PASSWORDLESS_MAIL_LEASE_SECONDS * secondMs;
  const policy = {
    triesMax: config.PASSWORDLESS_MAIL_TRIES_MAX,
    firstMs: config.PASSWORDLESS_MAIL_BACKOFF_SECONDS * secondMs,
    maxMs: config.PASSWORDLESS_MAIL_BACKOFF_MAX_SECONDS * secondMs,
  };
  const breaker: MailCircuitBreaker = new MailCircuitBreaker({
    mailer,
    clock,
    log,
    unreachableMs: policy.firstMs,
    misconfiguredMs: config.PASSWORDLESS_MAIL_PAUSE_SECONDS * secondMs,
    onClosed: () => worker.wake(),
  });
  const deadlineMs = config.PASSWORDLESS_MAIL_TIMEOUT_SECONDS * secondMs;
  const sender = senderOf(config);
  const bodiesOf = ({ id, text_body, html_body }: MailRow) => {
    const text = encryption.decryptText(text_body, `${id}:text`);
    const html = encryption.decryptText(html_body, `${id}:html`);
    return text === undefined || html === undefined ? undefined : { text, html };
  };
  const delivery = new MailDelivery({ mailer, bodiesOf, sender, clock, breaker, policy, deadlineMs });
  const id = newId();
  const claims = stack.use(new MailClaimStore({ database, clock, log, worker: id, leaseMs }));
  const worker: MailWorker<MailRow> = new MailWorker({
    claims,
    delivery,
    breaker,
    mailer,
    clock,
    log,
    metrics: mailMetrics,
    concurrency: config.PASSWORDLESS_MAIL_CONCURRENCY,
    pollMs: config.PASSWORDLESS_MAIL_POLL_SECONDS * secondMs,
    graceMs,
  });
  const keepMs = config.PASSWORDLESS_MAIL_KEEP_DAYS * dayMs;
  stack.use(await startHeartbeat(id, { database, clock, log, keepMs }));
  return stack.use(worker);
}
