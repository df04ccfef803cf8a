import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hash, verify } from '@node-rs/argon2';
import { loadPeer } from '../lib/peer-packages.ts';

/** better-auth in memory, with e-mail and password, the same hashes as ours, no rate limit; every session check extends the session where asked. */
const { betterAuth } = loadPeer('better-auth');
const { memoryAdapter } = loadPeer('better-auth/adapters/memory');
const { toNodeHandler } = loadPeer('better-auth/node');
const extendsSessions = process.argv[2] === 'extend';
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const auth = betterAuth({
  baseURL: url,
  secret: 'a secret for measuring, which is long enough',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  emailAndPassword: {
    enabled: true,
    password: {
      hash: (password: string) => hash(password, cost),
      verify: ({ hash: hashed, password }: Record<'hash' | 'password', string>) => verify(hashed, password),
    },
  },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
  ...(extendsSessions ? { session: { updateAge: 0 } } : {}),
});
server.on('request', toNodeHandler(auth));
process.send?.(url);
