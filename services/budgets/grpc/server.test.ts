import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ChannelCredentials, Client, Metadata as RawMetadata, type ServiceError } from '@grpc/grpc-js';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { createCertificate, opensslIsMissing, until } from '@octavo/testing';
import { createChannel, createClient, createClientFactory, Metadata, Status } from 'nice-grpc';
import { errorDetailsClientMiddleware, type RichClientError } from 'nice-grpc-error-details';
import { HealthDefinition } from 'nice-grpc-server-health';
import { type Person, startBudgets } from '../testing.ts';

const service = await startBudgets({
  environment: { BUDGETS_RATE_LIMIT_PER_MINUTE: '60', BUDGETS_RATE_LIMIT_BURST: '20' },
});
const channel = createChannel(`127.0.0.1:${service.grpcPort}`);
const raw = new Client(`127.0.0.1:${service.grpcPort}`, ChannelCredentials.createInsecure());
after(async () => {
  channel.close();
  raw.close();
  await service[Symbol.asyncDispose]();
});
const same = (bytes: Buffer) => bytes;
const metadataOf = ({ token }: Person) => Metadata({ authorization: `Bearer ${token}` });

test('reflection, in both versions, lists and describes all services, itself too', async () => {
  const field = (number: number, text: string) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);
  for (const version of ['v1', 'v1alpha']) {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    const call = raw.makeBidiStreamRequest(path, same, same);
    const asked = [
      '',
      'budget.v1.BudgetService',
      'budget.BudgetService',
      'google.type.Money',
      'no.Such',
      HealthDefinition.fullName,
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ];
    // Field 7 asks for a list, field 4 for the file of a symbol.
    for (const [index, name] of asked.entries()) call.write(field(index === 0 ? 7 : 4, name));
    call.end();
    const answers = await Array.fromAsync(call as AsyncIterable<Buffer>, (bytes) => bytes.toString('latin1'));
    const [list = '', first = '', second = '', money = '', unknown = '', health = '', ...own] = answers;
    assert.deepEqual(list.match(/(?:budget|grpc)\.[\w.]+/g), [
      'budget.v1.BudgetService',
      'budget.BudgetService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    assert.match(health, /grpc\/health\/v1\/health\.proto/);
    assert.match(own[0] ?? '', /grpc\/reflection\/v1\/reflection\.proto/);
    assert.match(own[1] ?? '', /grpc\/reflection\/v1alpha\/reflection\.proto/);
    assert.match(first, /budget\/v1\/budget_service\.proto/);
    assert.match(second, /budget\/budget_service\.proto/);
    assert.match(money, /google\/type\/money\.proto/);
    assert.match(unknown, /not found/);
  }
});

test('too many calls are RESOURCE_EXHAUSTED, and tell when to try again', async () => {
  const alice = await service.person('alice');
  const client = createClientFactory()
    .use(errorDetailsClientMiddleware)
    .create(BudgetServiceDefinition, channel, { '*': { metadata: metadataOf(alice) } });
  for (let call = 0; call < 20; call++) await client.listBudgets({});
  await assert.rejects(client.listBudgets({}), (error: RichClientError) => {
    assert.equal(error.code, Status.RESOURCE_EXHAUSTED);
    assert.match(JSON.stringify(error.extra), /google\.rpc\.RetryInfo.*"seconds":1/);
    return true;
  });
});

test('a request that cannot be read is INVALID_ARGUMENT, for those who are signed in', async () => {
  const alice = await service.person('alice');
  const send = (bytes: number[], metadata = new RawMetadata()) => {
    const { promise, resolve } = Promise.withResolvers<Status>();
    const done = (error: ServiceError | null) => resolve(error?.code ?? Status.OK);
    raw.makeUnaryRequest(
      '/budget.v1.BudgetService/CreateBudget',
      same,
      same,
      Buffer.from(bytes),
      metadata,
      done,
    );
    return promise;
  };
  const signedIn = new RawMetadata();
  signedIn.set('authorization', `Bearer ${alice.token}`);
  // A limit of 2^63 - 1 units.
  const money = [0x0a, 3, ...Buffer.from('USD'), 0x10, ...new Array(8).fill(0xff), 0x7f];
  const budget = [0x12, 1, 0x78, 0x1a, money.length, ...money];
  for (const bytes of [
    [0xff, 0xff, 0xff],
    [0x0a, budget.length, ...budget],
  ]) {
    assert.equal(await send(bytes, signedIn), Status.INVALID_ARGUMENT);
    assert.equal(await send(bytes), Status.UNAUTHENTICATED);
  }
});

test('TLS by setting', { skip: opensslIsMissing() }, async () => {
  const { certificate, key } = createCertificate();
  await using secure = await startBudgets({
    environment: { BUDGETS_GRPC_CERTIFICATE_FILE: certificate, BUDGETS_GRPC_KEY_FILE: key },
  });
  const alice = await secure.person('alice');
  const address = `localhost:${secure.grpcPort}`;
  const trusted = createChannel(address, ChannelCredentials.createSsl(readFileSync(certificate)));
  const budgets = createClient(BudgetServiceDefinition, trusted);
  assert.deepEqual((await budgets.listBudgets({}, { metadata: metadataOf(alice) })).budgets, []);
  trusted.close();
  for (const credentials of [ChannelCredentials.createInsecure(), ChannelCredentials.createSsl()]) {
    const other = createChannel(address, credentials);
    const client = createClient(BudgetServiceDefinition, other);
    await assert.rejects(client.listBudgets({}), { code: Status.UNAVAILABLE });
    other.close();
  }
  await assert.rejects(
    startBudgets({ environment: { BUDGETS_GRPC_CERTIFICATE_FILE: certificate } }),
    /BUDGETS_GRPC_KEY_FILE/,
  );
});

test('a renewed certificate is used without a restart, and only with its key', {
  skip: opensslIsMissing(),
}, async () => {
  const [files, renewed] = [createCertificate(), createCertificate()];
  const old = readFileSync(files.certificate);
  await using secure = await startBudgets({
    environment: { BUDGETS_GRPC_CERTIFICATE_FILE: files.certificate, BUDGETS_GRPC_KEY_FILE: files.key },
  });
  const alice = await secure.person('alice');
  const list = async (authority: Buffer) => {
    const own = createChannel(`localhost:${secure.grpcPort}`, ChannelCredentials.createSsl(authority));
    try {
      await createClient(BudgetServiceDefinition, own).listBudgets({}, { metadata: metadataOf(alice) });
      return true;
    } catch (error) {
      assert.equal((error as RichClientError).code, Status.UNAVAILABLE);
      return false;
    } finally {
      own.close();
    }
  };
  assert.ok(await list(old));
  copyFileSync(renewed.certificate, files.certificate);
  // Longer than the interval at which the files are looked at.
  await setTimeout(2_500);
  assert.ok(await list(old), 'the certificate was replaced without its key');
  copyFileSync(renewed.key, files.key);
  await until(async () => list(readFileSync(renewed.certificate)));
  assert.equal(await list(old), false);
});

test('health turns NOT_SERVING while the service drains', async () => {
  const draining = await startBudgets();
  const own = createChannel(`127.0.0.1:${draining.grpcPort}`);
  const alice = await draining.person('alice');
  const { id } = await alice.create('/api/budgets', { name: 'Watched', limit: 1 });
  const statuses = createClient(HealthDefinition, own)
    .watch({ service: BudgetServiceDefinition.fullName })
    [Symbol.asyncIterator]();
  // 1 is SERVING, 2 NOT_SERVING.
  assert.equal((await statuses.next()).value?.status, 1);
  const watch = createClient(BudgetServiceDefinition, own).watchBudget(
    { id },
    { metadata: metadataOf(alice) },
  );
  const budgets = watch[Symbol.asyncIterator]();
  await budgets.next();
  const stopped = draining[Symbol.asyncDispose]();
  assert.equal((await statuses.next()).value?.status, 2);
  await statuses.return?.();
  await assert.rejects(budgets.next() as Promise<unknown>, { code: Status.UNAVAILABLE });
  own.close();
  await stopped;
});
