import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import {
  inferenceClient,
  inferenceToken,
  startInferenceServer,
  startScriptedServer,
} from '../../testing/inference.ts';

const unavailable = { name: 'AppError', code: 'unavailable' };
const metadata = {
  name: 'their-model',
  inputs: [{ name: 'texts', datatype: 'BYTES', shape: [-1, 1] }],
  outputs: [
    { name: 'logits', datatype: 'FP32', shape: [-1, 7] },
    { name: 'shares', datatype: 'FP32', shape: [-1, 3] },
  ],
};

describe('a foreign server', () => {
  test('is asked for the tensors that its model has', async (context) => {
    const asked: { path: string | undefined; body: unknown }[] = [];
    const url = await startScriptedServer(context, ({ url, headers }, body) => {
      assert.equal(headers.authorization, 'Bearer secret');
      asked.push({ path: url, body: body && JSON.parse(body) });
      return url?.endsWith('/infer') ? shares([[0.1, 0.2, 0.7000001]]) : metadata;
    });
    const options = {
      model: 'their model',
      token: 'secret',
      labels: ['positive', 'neutral', 'negative'],
    } as const;
    const [classified] = await inferenceClient(`${url}/`, options).classify(['Fog']);
    assert.equal(classified?.label, 'negative');
    const { negative = 0, neutral = 0, positive = 0 } = classified?.probabilities ?? {};
    assert.ok(Math.abs(negative + neutral + positive - 1) < 1e-12);
    assert.ok(Math.abs(positive - 0.1) < 1e-6);
    assert.deepEqual(asked, [
      { path: '/v2/models/their%20model', body: '' },
      {
        path: '/v2/models/their%20model/infer',
        body: {
          inputs: [{ name: 'texts', datatype: 'BYTES', shape: [1, 1], data: ['Fog'] }],
          outputs: [{ name: 'shares' }],
        },
      },
    ]);
  });

  test('may nest its rows', async (context) => {
    const url = await scripted(context, () => ({
      outputs: [
        {
          name: 'shares',
          data: [
            [0.1, 0.2, 0.7],
            [1, 0, 0],
          ],
        },
      ],
    }));
    const classified = await inferenceClient(url).classify(['Fog', 'Rain']);
    assert.deepEqual(
      classified.map(({ label }) => label),
      ['positive', 'negative'],
    );
  });

  for (const [what, answer] of Object.entries({
    'nothing of use': {},
    'another tensor': { outputs: [{ name: 'logits', data: [1, 2, 3] }] },
    'too few numbers': shares([[0.5, 0.5]]),
    'too many rows': shares([
      [0.1, 0.2, 0.7],
      [0.1, 0.2, 0.7],
    ]),
    'what is no probability': shares([[-3.1, 0.2, 4.7]]),
    'a text for a number': shares([['a', 0.2, 0.8]]),
    'a null': null,
    'an error': { error: 'out of memory' },
  })) {
    test(`that answers ${what} is unavailable`, async (context) => {
      const url = await scripted(context, () => answer);
      await assert.rejects(inferenceClient(url).classify(['Fog']), unavailable);
    });
  }

  test('without fitting tensors, or without those in the settings, is unavailable', async (context) => {
    const url = await scripted(context, () => shares([[0.1, 0.2, 0.7]]));
    await inferenceClient(url, { input: 'texts', output: 'shares' }).classify(['Fog']);
    await assert.rejects(inferenceClient(url, { input: 'other' }).classify(['Fog']), unavailable);
    await assert.rejects(inferenceClient(url, { output: 'other' }).classify(['Fog']), unavailable);
    const empty = await startScriptedServer(context, () => ({ name: 'their-model' }));
    await assert.rejects(inferenceClient(empty).classify(['Fog']), unavailable);
  });

  test('that refuses, breaks or never stops is unavailable, and its redirects are not followed', async (context) => {
    const answers: Parameters<typeof startScriptedServer>[1][] = [
      (_request, _body, response) => void response.writeHead(500).end('{"error":"no memory"}'),
      (_request, _body, response) => void response.writeHead(404).end(),
      (_request, _body, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      (_request, _body, response) => void response.end('<html>'),
      (_request, _body, response) => void response.end(Buffer.alloc(2 * 1024 * 1024, ' ')),
      ({ socket }) => void socket.destroy(),
    ];
    for (const answer of answers) {
      const client = inferenceClient(await startScriptedServer(context, answer));
      await assert.rejects(client.classify(['Fog']), unavailable);
      await assert.rejects(client.ping(AbortSignal.timeout(5_000)), unavailable).catch(() => undefined);
    }
    await assert.rejects(inferenceClient('http://127.0.0.1:1').classify(['Fog']), unavailable);
  });

  test('that breaks a connection once gets the request again', async (context) => {
    let broken = 0;
    const url = await startScriptedServer(context, (request) => {
      if (isInference(request) && broken++ === 0) return void request.socket.destroy();
      return isInference(request) ? shares([[0.1, 0.2, 0.7]]) : metadata;
    });
    assert.equal((await inferenceClient(url).classify(['Fog']))[0]?.label, 'positive');
    assert.equal(broken, 2);
  });

  test('that takes too long, with its head or its body, times out', async (context) => {
    const silent = await startScriptedServer(context, () => undefined);
    await assert.rejects(inferenceClient(silent, { timeoutMs: 50 }).classify(['Fog']), { code: 'timeout' });
    const slow = await startScriptedServer(context, (_request, _body, response) => void response.write('{'));
    await assert.rejects(inferenceClient(slow, { timeoutMs: 50 }).classify(['Fog']), { code: 'timeout' });
  });

  test('whose model is replaced by one with other tensors is asked for them again', async (context) => {
    let name = 'shares';
    const url = await startScriptedServer(context, (request) => {
      if (!isInference(request))
        return { ...metadata, outputs: [{ name, datatype: 'FP32', shape: [-1, 3] }] };
      return { outputs: [{ name, data: [0.1, 0.2, 0.7] }] };
    });
    const client = inferenceClient(url);
    await client.classify(['Fog']);
    name = 'probabilities';
    await assert.rejects(client.classify(['Fog']), unavailable);
    assert.equal((await client.classify(['Fog']))[0]?.label, 'positive');
  });
});

describe('the model that a post backend serves', () => {
  test('is described, by the protocol', async (context) => {
    const ask = asker(await startInferenceServer(context));
    assert.deepEqual(await ask('GET', '/health/live'), [200, { live: true }]);
    assert.deepEqual(await ask('GET', '/health/ready'), [200, { ready: true }]);
    assert.deepEqual(await ask('GET', '/models/octavo-1/ready'), [200, { name: 'octavo-1', ready: true }]);
    const [status, { inputs, outputs }] = await ask('GET', '/models/octavo-1');
    assert.equal(status, 200);
    assert.deepEqual(inputs, [{ name: 'text', datatype: 'BYTES', shape: [-1] }]);
    assert.deepEqual(outputs, [{ name: 'probabilities', datatype: 'FP64', shape: [-1, 3] }]);
  });

  test('answers with the id of the request, and as many rows as texts', async (context) => {
    const ask = asker(await startInferenceServer(context));
    const [status, answer] = await ask('POST', '/models/octavo-1/infer', {
      id: '7',
      ...inputs(['Fog', 'Rain']),
    });
    assert.equal(status, 200);
    const { outputs, ...rest } = answer;
    assert.deepEqual(rest, { model_name: 'octavo-1', model_version: '1', id: '7' });
    assert.deepEqual(
      [outputs[0].name, outputs[0].datatype, outputs[0].shape],
      ['probabilities', 'FP64', [2, 3]],
    );
    assert.equal(outputs[0].data.length, 6);
  });

  test('needs the token, and refuses malformed requests', async (context) => {
    const url = await startInferenceServer(context);
    const ask = asker(url);
    assert.equal((await fetch(`${url}/v2/models/octavo-1`)).status, 401);
    assert.equal((await ask('GET', '/models/other'))[0], 404);
    assert.equal((await ask('POST', '/models/other/infer', inputs(['Fog'])))[0], 404);
    const [fog] = inputs(['Fog']).inputs;
    const bodies = [
      undefined,
      {},
      null,
      [],
      { inputs: [] },
      { inputs: [fog, fog] },
      { inputs: [{ ...fog, name: 'other' }] },
      { inputs: [{ ...fog, datatype: 'FP32' }] },
      { inputs: [{ ...fog, shape: [2] }] },
      { inputs: [{ ...fog, data: [7] }] },
      inputs([]),
      inputs(['']),
      inputs(['a'.repeat(10_001)]),
      inputs(Array(257).fill('a')),
    ];
    for (const body of bodies) {
      const [status, { error }] = await ask('POST', '/models/octavo-1/infer', body);
      assert.equal(status, 400, String(JSON.stringify(body)).slice(0, 80));
      assert.equal(typeof error, 'string');
    }
    for (const large of ['a'.repeat(5 * 1024 * 1024), Array(100_000).fill({})]) {
      assert.equal((await ask('POST', '/models/octavo-1/infer', large))[0], 413);
    }
  });
});

function scripted(context: TestContext, answer: () => unknown): Promise<string> {
  return startScriptedServer(context, (request, _body, response) => {
    if (!isInference(request)) return metadata;
    const answered = answer();
    if (answered === null) return void response.end('null');
    return answered;
  });
}

function isInference({ url }: IncomingMessage): boolean {
  return url?.endsWith('/infer') ?? false;
}

function shares(rows: readonly (readonly unknown[])[]) {
  return { outputs: [{ name: 'shares', datatype: 'FP32', shape: [rows.length, 3], data: rows.flat() }] };
}

function inputs(texts: readonly string[]) {
  return { inputs: [{ name: 'text', datatype: 'BYTES', shape: [texts.length], data: texts }] };
}

function asker(url: string) {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
  return async (method: string, path: string, body?: unknown): Promise<[number, any]> => {
    const response = await fetch(`${url}/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${inferenceToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return [response.status, await response.json()];
  };
}
