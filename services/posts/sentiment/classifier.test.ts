import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { AppError } from '@octavo/core';
import { inferenceClient, inferenceToken, startInferenceServer } from '../testing/inference.ts';
import type { Classifier } from './classifier.ts';
import { loadModel } from './model/model.ts';
import { ThreadClassifier } from './thread-classifier.ts';

const praise = 'I love this place, the food was wonderful!';
const complaint = 'Horrible service, I am so disappointed.';
const notice = 'The meeting is on Tuesday at ten in room 204.';

const adapters: Readonly<Record<string, () => Promise<Classifier>>> = {
  'a thread': async () => new ThreadClassifier(),
  'a server of the Open Inference protocol': async () =>
    inferenceClient(await startInferenceServer({ after }), { token: inferenceToken }),
};

for (const [name, open] of Object.entries(adapters)) {
  describe(`texts classified by ${name}`, async () => {
    const classifier = await open();
    after(() => classifier[Symbol.asyncDispose]());
    const labelsOf = async (texts: readonly string[], signal?: AbortSignal) =>
      (await classifier.classify(texts, signal)).map(({ label }) => label);

    test('are classified in their order', async () => {
      assert.deepEqual(await labelsOf([praise, complaint, notice]), ['positive', 'negative', 'neutral']);
      assert.equal(classifier.model, 'octavo-1');
    });

    test('get the classification of the shipped model', async () => {
      const texts = [praise, complaint, '', 'a', '😍 😡', 'é\r\n"\\ \u2028', `${praise} `.repeat(200)];
      const model = loadModel();
      const expected = texts.filter((text) => text !== '').map((text) => model.classify(text));
      const classified = await classifier.classify(texts.filter((text) => text !== ''));
      for (const [index, { label, probabilities }] of classified.entries()) {
        assert.equal(label, expected[index]?.label);
        const { negative, neutral, positive } = probabilities;
        assert.ok(Math.abs(negative + neutral + positive - 1) < 1e-9);
        for (const [name, share] of Object.entries(expected[index]?.probabilities ?? {})) {
          assert.ok(Math.abs(share - probabilities[name as typeof label]) < 1e-9);
        }
      }
    });

    test('may be none, or many more than go at once', async () => {
      assert.deepEqual(await classifier.classify([]), []);
      const texts = Array.from({ length: 1_000 }, (_, index) => [praise, complaint, notice][index % 3] ?? '');
      const labels = await labelsOf(texts);
      assert.deepEqual(labels.slice(0, 3), ['positive', 'negative', 'neutral']);
      assert.equal(labels.length, 1_000);
      assert.ok(labels.every((label, index) => label === labels[index % 3]));
    });

    test('of many callers come back to each', async () => {
      const batches = await Promise.all(
        Array.from({ length: 50 }, (_, index) => labelsOf(index % 2 ? [praise, notice] : [complaint])),
      );
      for (const [index, labels] of batches.entries()) {
        assert.deepEqual(labels, index % 2 ? ['positive', 'neutral'] : ['negative']);
      }
    });

    test('whose caller has gone are dropped', async () => {
      const gone = new AbortController();
      const reason = new AppError('canceled', 'the caller has gone');
      const long = Array<string>(1_000).fill(`${praise} `.repeat(200));
      const waiting = classifier.classify(long, gone.signal);
      setTimeout(() => gone.abort(reason), 20);
      await assert.rejects(waiting, reason);
      await assert.rejects(classifier.classify([praise], gone.signal), reason);
      assert.deepEqual(await labelsOf([praise]), ['positive']);
    });

    test('do not wait for those of another caller', async () => {
      const gone = new AbortController();
      const others = classifier.classify(Array<string>(500).fill(`${praise} `.repeat(200)), gone.signal);
      // Only if they are not done yet when the other caller has its answer.
      const areDropped = assert.rejects(others);
      await classifier.classify([notice]);
      gone.abort();
      await areDropped;
    });

    test('can be classified now', async () => {
      await classifier.ping(AbortSignal.timeout(5_000));
    });

    test('are refused once it is closed', async () => {
      const other = await open();
      const waiting = other.classify(Array<string>(500).fill(`${praise} `.repeat(200)));
      const caught = assert.rejects(waiting, { code: 'unavailable' });
      await other[Symbol.asyncDispose]();
      await caught;
      await assert.rejects(other.classify([praise]), { code: 'unavailable' });
      await assert.rejects(other.ping(AbortSignal.timeout(5_000)), { code: 'unavailable' });
    });
  });
}
