export { MailCircuitBreaker } from './circuit-breaker.ts';
export { MailDelivery } from './delivery.ts';
export type { MailBodies, MailClaims, QueuedMail, Settled, Verdict } from './queue.ts';
export { type MailOutcome, MailWorker } from './worker.ts';
