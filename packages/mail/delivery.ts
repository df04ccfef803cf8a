/** Delivery of mails: a queue, retries, a circuit breaker. */
export { MailCircuitBreaker } from './delivery/circuit-breaker.ts';
export { MailDelivery } from './delivery/delivery.ts';
export type { MailBodies, MailClaims, QueuedMail, Settled, Verdict } from './delivery/queue.ts';
export { type MailOutcome, MailWorker } from './delivery/worker.ts';
