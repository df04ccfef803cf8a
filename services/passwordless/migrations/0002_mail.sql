-- Mails that wait, are being sent or were dealt with. next_try_at_ms says from when on somebody may take an entry: of a pending
-- one the next try, of one that is being sent the end of its lease. claims counts how often it was taken and fences late workers;
-- attempts counts the tries that count. Bodies are encrypted until they are replaced by a note.
CREATE TABLE email_queue (
  id text PRIMARY KEY,
  kind text NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  text_body text NOT NULL,
  html_body text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'sending', 'sent', 'failed')),
  next_try_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  attempts integer NOT NULL,
  claims integer NOT NULL,
  worker text,
  last_error text,
  created_at_ms bigint NOT NULL,
  finished_at_ms bigint
);

CREATE INDEX email_queue_due ON email_queue (next_try_at_ms) WHERE status IN ('pending', 'sending');
CREATE INDEX email_queue_finished ON email_queue (finished_at_ms) WHERE finished_at_ms IS NOT NULL;
-- Nobody asks which links an address was sent.
CREATE INDEX email_queue_recipient ON email_queue (recipient, kind, created_at_ms) WHERE kind <> 'magic-link';

-- Who works on the queue, and when each was last heard of.
CREATE TABLE mail_worker (
  id text PRIMARY KEY,
  started_at_ms bigint NOT NULL,
  beat_at_ms bigint NOT NULL
);
