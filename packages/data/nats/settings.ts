import { type Config, refuse, type Settings, text } from '@octavo/core';

/** The broker, for every service that publishes or queues work in it. */
export const natsSettings = {
  NATS_URL: text({
    secret: true,
    help: 'NATS with JetStream for jobs and events: nats://[user:password@]host:port, several separated by commas; tls:// for TLS',
  }),
} satisfies Settings;

/** Refuses an address that NATS does not take. */
export function checkNats({ NATS_URL: url }: Config<typeof natsSettings>): void {
  if (url === undefined || url.split(',').every(isAddress)) return;
  refuse({ NATS_URL: 'must be nats:// or tls:// addresses separated by commas' });
}

/** Returns true if the text can be the first part of a subject and of the name of a stream. */
export function isNatsName(name: string): boolean {
  return /^[A-Za-z0-9_]{1,32}$/.test(name);
}

/** The rule of {@link isNatsName} in words, for refusals. */
export const natsNameRule = 'must be 1 to 32 letters, digits or _';

function isAddress(server: string): boolean {
  return /^(nats|tls):\/\//.test(server.trim()) && URL.canParse(server.trim());
}
