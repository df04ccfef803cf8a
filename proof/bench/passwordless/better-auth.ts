import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { loadPeer } from '../lib/peer-packages.ts';

/**
 * better-auth on a SQLite file that syncs each commit, with magic links that go nowhere and no rate limit; every session check extends
 * the session. It tells its address and the cookie of a user who signed in by a link.
 */
const { betterAuth } = loadPeer('better-auth');
const { getMigrations } = loadPeer('better-auth/db/migration');
const { toNodeHandler } = loadPeer('better-auth/node');
const { magicLink } = loadPeer('better-auth/plugins');
const [file = ''] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
let lastLink = '';
const options = {
  baseURL: url,
  secret: 'a secret for measuring, which is long enough',
  database,
  plugins: [
    magicLink({
      sendMagicLink: ({ url: link }: { url: string }) => {
        lastLink = link;
      },
    }),
  ],
  session: { updateAge: 0 },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
};
const { runMigrations } = await getMigrations(options);
await runMigrations();
server.on('request', toNodeHandler(betterAuth(options)));
await fetch(`${url}/api/auth/sign-in/magic-link`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', origin: url },
  body: JSON.stringify({ email: 'alice@example.com' }),
});
const signedIn = await fetch(lastLink, { redirect: 'manual' });
const cookie = signedIn.headers
  .getSetCookie()
  .map((line) => line.split(';', 1)[0])
  .join('; ');
process.send?.({ url, cookie });
