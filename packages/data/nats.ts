/** The connection to NATS, and its settings. */
export { connectionOptions, NatsLink } from './nats/link.ts';
export { checkNats, isNatsName, natsNameRule, natsSettings } from './nats/settings.ts';
