/** The tables of the e-mail queue. */
export interface MailTables {
  email_queue: MailRow;
  mail_worker: MailWorkerRow;
}

export type MailStatus = 'pending' | 'sending' | 'sent' | 'failed';

export interface MailRow {
  id: string;
  kind: string;
  recipient: string;
  subject: string;
  text_body: string;
  html_body: string;
  status: MailStatus;
  next_try_at_ms: number;
  expires_at_ms: number;
  attempts: number;
  claims: number;
  worker: string | null;
  last_error: string | null;
  created_at_ms: number;
  finished_at_ms: number | null;
}

export interface MailWorkerRow {
  id: string;
  started_at_ms: number;
  beat_at_ms: number;
}
