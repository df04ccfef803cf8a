/**
 * Processor time of a passkey sign-in at the passwordless service, durable and whole (its challenge taken, the signature verified, the counter
 * moved, a session opened, the event kept for the auditor), beside a bare `verifyAuthenticationResponse` of the same library in a process of its
 * own. Rounds alternate; the least of each counts, since the machine may have other work.
 *
 *   node proof/bench/passkeys.ts [rounds] [requests]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testFolder } from '@octavo/testing';
import { Agent, request } from 'undici';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { SoftwareAuthenticator } from '../../services/passwordless/passkeys/testing-authenticator.ts';

const rounds = Number(process.argv[2] ?? 3);
const requests = Number(process.argv[3] ?? 2_000);
const origin = 'http://localhost:3003';
const users = 1_000;
const clients = 64;
const folder = testFolder('bench');
const dispatcher = new Agent({ connections: clients });
const limits = [
  'POST_PER_IP',
  'MAGIC_PER_IP',
  'MAGIC_PER_ADDRESS',
  'ENROLL_PER_IP',
  'VERIFY_PER_IP',
  'REFRESH_PER_IP',
];
const environment = {
  OCTAVO_DATA: folder,
  LOG_LEVEL: 'warn',
  NODE_ENV: 'development',
  PASSWORDLESS_WORKER: 'off',
  PASSWORDLESS_MAGIC_LINK_BASE_URL: `${origin}/verify/magic`,
  ...Object.fromEntries(limits.map((name) => [`PASSWORDLESS_LIMIT_${name}`, '0'])),
};

try {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.adopt(await startProcess('passwordless', environment), ({ child }) =>
    stopProcess(child),
  );
  const devices = await Promise.all(Array.from({ length: users }, (_, index) => enroll(url, index)));
  await signIns(url, devices);
  const [bare, options, complete]: number[][] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    bare?.push(await bareVerification());
    const figures = await signIns(url, devices);
    options?.push(figures.optionsUs);
    complete?.push(figures.completeUs);
  }
  const [floor, asked, answered] = [bare, options, complete].map((all) => Math.min(...(all ?? [])));
  console.log(
    `POST /webauthn/login/complete: ${answered?.toFixed(0)} µs of processor time a request, bare verifyAuthenticationResponse ${floor?.toFixed(0)} µs: ${((answered ?? 0) / (floor ?? 1)).toFixed(2)} times`,
  );
  console.log(`POST /webauthn/login/options: ${asked?.toFixed(0)} µs`);
} finally {
  await dispatcher.close();
}

async function enroll(url: string, index: number): Promise<SoftwareAuthenticator> {
  const device = new SoftwareAuthenticator({ origin, counts: true });
  const options = await post(`${url}/webauthn/register/options`, { email: `user${index}@example.com` });
  const answer = { pending_id: options.pending_id, response: device.create(options as never) };
  await post(`${url}/webauthn/register/complete`, answer);
  return device;
}

/** Both halves of as many sign-ins, each by itself. What the clients sign costs another process. */
async function signIns(url: string, devices: readonly SoftwareAuthenticator[]) {
  const beforeUs = await processorUs(url);
  const options = await everywhere(requests, () => post(`${url}/webauthn/login/options`, {}));
  const betweenUs = await processorUs(url);
  // The counter of a device must rise from one request to the next, so each has its own at a time.
  const answers = options.map((asked, index) => {
    const device = devices[index % devices.length] as SoftwareAuthenticator;
    return { pending_id: asked.pending_id, response: device.get(asked as never) };
  });
  const startUs = await processorUs(url);
  await everywhere(requests, (index) => post(`${url}/webauthn/login/complete`, answers[index] as object));
  const endUs = await processorUs(url);
  return { optionsUs: (betweenUs - beforeUs) / requests, completeUs: (endUs - startUs) / requests };
}

async function everywhere<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lanes = Array.from({ length: clients }, async () => {
    while (next < count) {
      const index = next++;
      results[index] = await work(index);
    }
  });
  await Promise.all(lanes);
  return results;
}

async function post(url: string, body: object): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json' };
  const answer = await request(url, { dispatcher, method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${await answer.body.text()}`);
  return (await answer.body.json()) as Record<string, string>;
}

async function processorUs(url: string): Promise<number> {
  const { body } = await request(`${url}/metrics`, { dispatcher });
  const seconds = /^process_cpu_seconds_total (\S+)$/m.exec(await body.text())?.[1];
  return Number(seconds) * 1e6;
}

async function bareVerification(): Promise<number> {
  const child = fork(fileURLToPath(new URL('passkeys/bare.ts', import.meta.url)), [String(requests)]);
  const [us] = (await once(child, 'message')) as [number];
  child.disconnect();
  return us;
}
