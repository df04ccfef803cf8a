import type { Clock } from '@octavo/core';
import { newOrderedId } from '@octavo/core';
import type { Encryption } from '@octavo/core/auth';
import type { WriteSession } from '@octavo/data';
import type { NewMail } from './mail.ts';
import { hasRecentMail, insertMail, type MailTables } from './store.ts';
import type { MailTexts } from './texts.ts';

const securityMailLifeMs = 24 * 3_600_000;

interface MailQueueParts {
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly texts: MailTexts;
  /** Called when a mail may be due. */
  readonly onQueued: () => void;
}

/** The queue where mails wait for a worker. */
export class MailQueue {
  readonly #parts: MailQueueParts;

  constructor(parts: MailQueueParts) {
    this.#parts = parts;
  }

  /** Queues a mail in the caller's transaction: it is sent if that commits. Call {@link wakeWorkers} afterwards to send it at once. */
  async enqueue(session: WriteSession<MailTables>, mail: NewMail): Promise<void> {
    const { clock, encryption, texts } = this.#parts;
    const nowMs = clock.now();
    const kind = mail.kind === 'security' ? `security:${mail.event}` : mail.kind;
    if (mail.kind === 'security' && mail.quietMs !== undefined) {
      await session.lock(`mail:${mail.to}`);
      const since = { recipient: mail.to, kind, sinceMs: nowMs - mail.quietMs };
      if (await hasRecentMail(session, since)) return;
    }
    const { subject, text, html } = texts.render(mail, nowMs);
    const id = newOrderedId();
    await insertMail(session, {
      id,
      kind,
      recipient: mail.to,
      subject,
      text_body: encryption.encrypt(text, `${id}:text`),
      html_body: encryption.encrypt(html, `${id}:html`),
      next_try_at_ms: nowMs,
      expires_at_ms: mail.kind === 'magic-link' ? mail.expiresAtMs : nowMs + securityMailLifeMs,
    });
  }

  wakeWorkers(): void {
    this.#parts.onQueued();
  }
}
