import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { startProcess, startTestSystem, stopProcess, type TestSystem } from '@octavo/octavo/testing';
import { promptly, testFolder, until } from '@octavo/testing';
import { assertError, castOf, Person } from '../testing.ts';

const praise = 'I love this place, the food was wonderful!';
const complaint = 'Horrible service, I am so disappointed.';
const notice = 'The meeting is on Tuesday at ten in room 204.';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const { alice, bob, charlie, stranger } = await castOf(system);
// The first text loads the model, which may take longer than a request waits on a busy machine.
await until(async () => (await alice.post('/ml/sentiment', { text: praise })).status === 200);

describe('the sentiment of a text', () => {
  test('comes with its probabilities', async () => {
    for (const [text, label] of [
      [praise, 'positive'],
      [complaint, 'negative'],
      [notice, 'neutral'],
    ]) {
      const response = await alice.post('/ml/sentiment', { text });
      assert.equal(response.status, 200, response.text);
      assert.deepEqual(Object.keys(response.json), ['data']);
      assert.deepEqual(Object.keys(response.json.data), ['label', 'probabilities']);
      const { probabilities } = response.json.data;
      assert.equal(response.json.data.label, label);
      assert.deepEqual(Object.keys(probabilities).sort(), ['negative', 'neutral', 'positive']);
      const shares = Object.values(probabilities) as number[];
      assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 1) < 1e-6);
      assert.equal(Math.max(...shares), probabilities[label ?? '']);
    }
    assert.equal((await bob.post('/ml/sentiment', { text: praise })).status, 200);
  });

  test('needs write access', async () => {
    assertError(await charlie.post('/ml/sentiment', { text: praise }), 403, 'FORBIDDEN');
    assertError(await charlie.post('/ml/sentiment', 'nonsense'), 403, 'FORBIDDEN');
    assertError(await stranger.post('/ml/sentiment', { text: praise }), 401, 'UNAUTHORIZED');
    assertError(await alice.get('/ml/sentiment'), 405, 'METHOD_NOT_ALLOWED');
  });

  test('is for any text of 1 to 10,000 characters', async () => {
    for (const text of ['a', ' ', '😀'.repeat(10_000), 'é\r\n"\\ \u2028', '__proto__']) {
      assert.equal((await alice.post('/ml/sentiment', { text })).status, 200, text.slice(0, 20));
    }
    const bodies = [{}, [], { text: '' }, { text: null }, { text: 7 }, { text: [praise] }, { Text: praise }];
    const texts = ['a'.repeat(10_001), '😀'.repeat(10_001), 'a\0', '\ud800'];
    for (const body of [...bodies, ...texts.map((text) => ({ text }))]) {
      const fields = assertError(await alice.post('/ml/sentiment', body), 422, 'VALIDATION_FAILED');
      if (!Array.isArray(body)) assert.deepEqual(Object.keys(fields), ['text']);
    }
    assertError(await alice.post('/ml/sentiment'), 400, 'INVALID_INPUT');
    assertError(await alice.post('/ml/sentiment', '{"text":'), 400, 'INVALID_INPUT');
    const plain = { 'content-type': 'text/plain' };
    assertError(await alice.post('/ml/sentiment', praise, plain), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test('is right for many requests at once', async () => {
    const long = `${complaint} `.repeat(240);
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        alice.post('/ml/sentiment', { text: index % 2 ? long : praise }),
      ),
    );
    for (const [index, response] of responses.entries()) {
      assert.equal(response.json.data?.label, index % 2 ? 'negative' : 'positive', response.text);
    }
  });

  test('is reported as up', async () => {
    await until(async () => (await bob.get('/admin/status')).json.data.integrations.inferenceServer === true);
    await until(async () => (await readinessOf(system)) === undefined);
    assert.equal(await metricOf(system), 1);
  });
});

test('the sentiment is disabled if inference is off', async () => {
  await using bare = await startTestSystem({ INFERENCE: 'off' });
  const cast = await castOf(bare);
  for (const body of [{ text: praise }, { text: 7 }, undefined]) {
    const response = await cast.alice.post('/ml/sentiment', body);
    assert.deepEqual(assertError(response, 503, 'INTEGRATION_DISABLED'), { integration: 'inferenceServer' });
  }
  assertError(await cast.alice.post('/ml/sentiment', '{'), 400, 'INVALID_INPUT');
  assertError(await cast.charlie.post('/ml/sentiment', {}), 403, 'FORBIDDEN');
  assert.equal((await cast.bob.get('/admin/status')).json.data.integrations.inferenceServer, false);
  assert.equal(await readinessOf(bare), undefined);
  assert.equal(await metricOf(bare), undefined);
});

test('a process that has classified exits with 0', async () => {
  const environment = { ...serverSettings(), DEMO_EDITOR_PASSWORD: 'editor-of-the-tests' };
  const { url, child } = await startProcess('gateway', environment);
  const signedIn = await new Person(url).post('/auth/login', {
    username: 'editor',
    password: environment.DEMO_EDITOR_PASSWORD,
  });
  const editor = new Person(url, signedIn.json.data.token);
  const ask = () => editor.post('/ml/sentiment', { text: praise });
  await until(async () => (await ask()).status === 200);
  assert.equal((await ask()).json.data.label, 'positive');
  await stopProcess(child);
  assert.deepEqual([child.exitCode, child.signalCode], [0, null]);
});

describe('an inference server', () => {
  const settings = (url: string) => ({ INFERENCE_URL: url, INFERENCE_MODEL: 'octavo-1' });

  test('replaces the shipped model, and may be down for a while', async (context) => {
    const { url, child } = await startProcess('posts', serverSettings());
    let server = child;
    context.after(() => stopProcess(server));
    await using far = await startTestSystem({ ...settings(url), INFERENCE_TOKEN: 'theirs' });
    const cast = await castOf(far);
    const ask = () => cast.alice.post('/ml/sentiment', { text: praise });
    const here = await alice.post('/ml/sentiment', { text: praise });
    await until(async () => (await ask()).status === 200);
    assert.deepEqual((await ask()).json, here.json);

    await stopProcess(server, 'SIGKILL');
    const response = await ask();
    assertError(response, 503, 'SERVICE_UNAVAILABLE');
    assert.ok(Number(response.headers.get('retry-after')) >= 1);
    assert.doesNotMatch(response.text, /127\.0\.0\.1|ECONN|node:|\.ts/);
    await until(async () => (await readinessOf(far))?.startsWith('failing: '));
    assert.equal((await fetch(`${far.url}/readiness`)).status, 200);
    await until(async () => (await metricOf(far)) === 0);
    assert.equal((await cast.bob.get('/admin/status')).json.data.integrations.inferenceServer, true);

    server = (await startProcess('posts', serverSettings(), Number(new URL(url).port))).child;
    await until(async () => (await ask()).status === 200);
    await until(async () => (await readinessOf(far)) === undefined);
  });

  test('that takes more than two seconds is a timeout', async (context) => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    context.after(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const { port } = silent.address() as { port: number };
    await using far = await startTestSystem(settings(`http://127.0.0.1:${port}`));
    const cast = await castOf(far);
    const startedMs = performance.now();
    const late = await promptly(() => cast.alice.post('/ml/sentiment', { text: praise }));
    assertError(late, 504, 'UPSTREAM_TIMEOUT');
    assert.ok(performance.now() - startedMs > 1_900);
    assert.match((await readinessOf(far)) ?? '', /^failing: /);
    assert.equal((await cast.charlie.get('/posts')).status, 200);
  });

  test('is refused if its settings are invalid', async () => {
    for (const [wrong, name] of [
      [{ INFERENCE_URL: 'http://127.0.0.1:1' }, 'INFERENCE_MODEL'],
      [{ INFERENCE_MODEL: 'theirs' }, 'INFERENCE_MODEL'],
      [settings('nowhere'), 'INFERENCE_URL'],
      [settings('file:///etc/passwd'), 'INFERENCE_URL'],
      [{ INFERENCE_LABELS: 'good,bad,ugly' }, 'INFERENCE_LABELS'],
      [{ INFERENCE: 'maybe' }, 'INFERENCE'],
    ] as const) {
      if (process.env.TEST_RPC === 'remote') break;
      await assert.rejects(startTestSystem(wrong), new RegExp(name));
    }
  });
});

/** The settings of a process that only serves the model. */
function serverSettings(): Record<string, string> {
  return {
    NODE_ENV: 'test',
    OCTAVO_DATA: testFolder('inference'),
    LOG_LEVEL: 'fatal',
    RPC_TOKEN: 'theirs',
  };
}

async function readinessOf({ url }: Pick<TestSystem, 'url'>): Promise<string | undefined> {
  const { integrations } = (await (await fetch(`${url}/readiness`)).json()) as {
    integrations?: Record<string, string>;
  };
  return integrations?.inferenceServer;
}

async function metricOf({ url }: Pick<TestSystem, 'url'>): Promise<number | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = /^integration_up\{integration="inferenceServer"\} (\d)$/m.exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}
