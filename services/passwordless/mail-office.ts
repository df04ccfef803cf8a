import type { Database } from '#kit/db/index.ts';
import { newId } from '#kit/ids.ts';
import type { ServiceContext } from '#kit/service.ts';
import type { Keys } from './keys.ts';
import { MailBreaker } from './mail-breaker.ts';
import { MailDelivery } from './mail-delivery.ts';
import { MailFigures } from './mail-figures.ts';
import { startHeartbeat } from './mail-heartbeat.ts';
import { MailLedger } from './mail-ledger.ts';
import { MailNudge } from './mail-nudge.ts';
import { MailQueue } from './mail-queue.ts';
import { MailSeal } from './mail-seal.ts';
import { chooseMailer, senderOf } from './mail-sender.ts';
import type { MailTables } from './mail-tables.ts';
import { MailTexts } from './mail-texts.ts';
import { MailWorker } from './mail-worker.ts';
import type { PasswordlessConfig } from './settings.ts';

const secondMs = 1_000;
const dayMs = 86_400_000;
/** What a mail may take of the lease of its entry. */
const deadlineShare = 0.75;
const graceMs = 6_000;

export interface MailOfficeParts {
  readonly config: PasswordlessConfig;
  readonly context: ServiceContext;
  readonly database: Database<MailTables>;
  readonly keys: Keys;
}

/** The e-mail queue of a process, and its worker where it has one. */
export interface MailOffice extends AsyncDisposable {
  readonly queue: MailQueue;
}

/** Opens the queue; with `works` this process sends mails, too. */
export async function openMailOffice(
  parts: MailOfficeParts,
  { works }: { works: boolean },
): Promise<MailOffice> {
  await using stack = new AsyncDisposableStack();
  const { config, database, keys } = parts;
  const { clock, metrics, dataFolder } = parts.context;
  const nudge = stack.use(new MailNudge(dataFolder));
  const seal = new MailSeal(keys.all('queue'));
  const texts = new MailTexts({
    service: config.PASSWORDLESS_WEBAUTHN_RP_NAME,
    folder: config.PASSWORDLESS_MAIL_TEMPLATES,
  });
  senderOf(config);
  const figures = new MailFigures(metrics, database, clock);
  const worker = works ? await startWorker(stack, parts, { seal, figures }) : undefined;
  if (worker) stack.use(nudge.listen(() => worker.wake()));
  const onNudge = () => {
    worker?.wake();
    nudge.ring();
  };
  const queue = new MailQueue({ clock, seal, texts, onNudge });
  worker?.wake();
  const owned = stack.move();
  return { queue, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function startWorker(
  stack: AsyncDisposableStack,
  { config, context, database }: MailOfficeParts,
  { seal, figures }: { seal: MailSeal; figures: MailFigures },
): Promise<MailWorker> {
  const { clock, log } = context;
  const mailer = stack.use(await chooseMailer(config, context));
  const leaseMs = config.PASSWORDLESS_MAIL_LEASE_SECONDS * secondMs;
  const policy = {
    triesMax: config.PASSWORDLESS_MAIL_TRIES_MAX,
    firstMs: config.PASSWORDLESS_MAIL_BACKOFF_SECONDS * secondMs,
    maxMs: config.PASSWORDLESS_MAIL_BACKOFF_MAX_SECONDS * secondMs,
  };
  const breaker: MailBreaker = new MailBreaker({
    mailer,
    clock,
    log,
    unreachableMs: policy.firstMs,
    misconfiguredMs: config.PASSWORDLESS_MAIL_PAUSE_SECONDS * secondMs,
    onClosed: () => worker.wake(),
  });
  const deadlineMs = leaseMs * deadlineShare;
  const sender = senderOf(config);
  const delivery = new MailDelivery({ mailer, seal, sender, clock, breaker, policy, deadlineMs });
  const id = newId();
  const ledger = new MailLedger({ database, clock, log, worker: id, leaseMs });
  const worker = new MailWorker({
    ledger,
    delivery,
    breaker,
    mailer,
    clock,
    log,
    figures,
    concurrency: config.PASSWORDLESS_MAIL_CONCURRENCY,
    pollMs: config.PASSWORDLESS_MAIL_POLL_SECONDS * secondMs,
    graceMs,
  });
  const keepMs = config.PASSWORDLESS_MAIL_KEEP_DAYS * dayMs;
  stack.use(await startHeartbeat(id, { database, clock, log, keepMs }));
  return stack.use(worker);
}
