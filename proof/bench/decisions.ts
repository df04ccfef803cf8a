/**
 * Access decisions a second, in one process: the service by its client (account read from SQLite, policies, id, log line, metric) beside the
 * bare call of Cedar with the same policies. The service keeps Cedar's answers, which depend on nothing but the question,
 * so both a question seen before and one never seen are measured. Rounds alternate, the best of each counts.
 *
 *   node proof/bench/decisions.ts [rounds] [seconds]
 */
import { openSync } from 'node:fs';
import { readConfig, systemClock } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import { AuthServiceDefinition, type DecideRequest } from '@octavo/protocols/authz/v1/authz';
import { localClient } from '@octavo/rpc';
import { testFolder } from '@octavo/testing';
import pino from 'pino';
import { Registry } from 'prom-client';
import { loadCedar } from '../../services/authz/decisions/cedar.ts';
import { Policies } from '../../services/authz/decisions/policies.ts';
import { readPolicyFiles, shippedPolicies } from '../../services/authz/decisions/policy-files.ts';
import { authz } from '../../services/authz/service.ts';

const [rounds = 3, seconds = 1] = process.argv.slice(2).map(Number);
const folder = testFolder('bench');
const log = createLog({
  service: 'authz',
  destination: pino.destination({ fd: openSync('/dev/null', 'w'), sync: true }),
});
const requests = everyRequest();
let nextUid = 1_000;

await using running = await authz.start(
  readConfig(authz.settings, {}),
  {
    log,
    clock: systemClock,
    dataFolder: folder,
    environment: 'test',
    metrics: new Registry(),
    host: '127.0.0.1',
    port: undefined,
  },
  {},
);
const client = localClient(AuthServiceDefinition, running.handlers, { log });
using policies = await Policies.open(shippedPolicies);
const bare = await bareCedar();
const best: Record<string, number> = {};
for (let round = 0; round < rounds; round++) {
  await measure('bare Cedar', async (index) => bare(at(index)));
  await measure('policies, question not seen before', async (index) => unseen(index));
  await measure('service', (index) => client.decide(at(index)));
}
for (const [name, perSecond] of Object.entries(best)) {
  const share = (perSecond / (best['bare Cedar'] as number)).toFixed(2);
  console.log(
    `${name.padEnd(36)} ${String(Math.round(perSecond)).padStart(8)} decisions/s, ${share} of bare Cedar`,
  );
}

async function measure(name: string, decide: (index: number) => Promise<unknown>): Promise<void> {
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  let count = 0;
  while (performance.now() < endMs) {
    for (let batch = 0; batch < 100; batch++) await decide(count++);
  }
  const perSecond = (count / (performance.now() - startMs)) * 1_000;
  best[name] = Math.max(best[name] ?? 0, perSecond);
}

function everyRequest(): (DecideRequest & { subject: NonNullable<DecideRequest['subject']> })[] {
  return ['admin', 'editor', 'viewer'].flatMap((role, index) =>
    ['post', 'export', 'ml', 'admin'].flatMap((resourceType) =>
      ['read', 'write', 'delete'].map((action) => ({
        subject: { uid: index + 1, username: role, role, mfaVerified: true },
        resourceType,
        action,
      })),
    ),
  );
}

function at(index: number) {
  return requests[index % requests.length] as (typeof requests)[number];
}

function unseen(index: number) {
  const { subject, resourceType, action } = at(index);
  return policies.evaluate({ ...subject, uid: nextUid++, resourceType, action } as Parameters<
    typeof policies.evaluate
  >[0]);
}

/** Cedar as its documentation calls it: policies and schema parsed once. */
async function bareCedar() {
  const cedar = await loadCedar();
  const files = await readPolicyFiles(cedar, shippedPolicies);
  cedar.preparseSchema('bench', files.schema);
  cedar.preparsePolicySet('bench', { staticPolicies: files.policies });
  return ({ subject, resourceType, action }: ReturnType<typeof at>) => {
    const uid = { type: 'Account', id: String(subject.uid) };
    const parents = [{ type: 'Role', id: subject.role }];
    return cedar.statefulIsAuthorized({
      principal: uid,
      action: { type: 'Action', id: action },
      resource: { type: 'Resource', id: resourceType },
      context: { mfaVerified: subject.mfaVerified },
      entities: [{ uid, attrs: { uid: subject.uid, username: subject.username }, parents }],
      preparsedSchemaName: 'bench',
      validateRequest: true,
      preparsedPolicySetId: 'bench',
    });
  };
}
