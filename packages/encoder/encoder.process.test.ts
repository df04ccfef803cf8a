import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { until } from '@octavo/testing';
import { Encoder, EncoderError, type EncoderOptions, encoderDimensions } from './index.ts';

const backoff = { firstMs: 1, maxMs: 1 };
const open = (options: Partial<EncoderOptions> = {}) => new Encoder({ log: silentLog, backoff, ...options });
const urgent = { isUrgent: true };
const patient = { isUrgent: false };

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] as number), 0);
}

/** Asks until the pause after a process that died is over. */
async function encodeAgain(encoder: Encoder, text: string) {
  return until(() => encoder.encode([text], urgent).catch(() => false as const));
}

test('texts that mean the same are near, in other words too', async () => {
  await using encoder = open();
  assert.equal(encoder.pid, undefined, 'nothing runs before the first text');
  const texts = [
    'How much holiday do I get?',
    'Everybody has 27 days of vacation.',
    'The ferry leaves at nine.',
  ];
  const [question, answer, other] = (await encoder.encode(texts, urgent)).map(({ vector }) => vector);
  assert.ok(question && answer && other);
  assert.ok(cosine(question, answer) > cosine(question, other) + 0.1);
  assert.ok(Math.abs(cosine(question, question) - 1) < 1e-3);
  const alone = await encoder.encode(texts.slice(0, 1), urgent);
  assert.ok(cosine(question, alone[0]?.vector as Float32Array) > 0.9999, 'texts beside it change nothing');
});

test('any text has a vector, and long ones take no more than their beginning', async () => {
  await using encoder = open();
  const texts = [
    '',
    ' \n',
    'x'.repeat(1_000_000),
    '0123456789'.repeat(1_000),
    '😀'.repeat(5_000),
    'שלום עולם '.repeat(500),
    'مرحبا\u202e\u200f',
    '\ud800 half a letter',
    '\u0000',
    '中文'.repeat(900),
  ];
  const encoded = await encoder.encode(texts, patient);
  assert.equal(encoded.length, texts.length);
  for (const { vector, tokens } of encoded) {
    assert.equal(vector.length, encoderDimensions);
    assert.ok(Math.abs(cosine(vector, vector) - 1) < 1e-3);
    assert.ok(tokens >= 1 && tokens <= 512);
  }
});

test('a process that is killed in the middle fails what it was asked, and another takes its place', async () => {
  await using encoder = open();
  await encoder.encode(['Ready?'], urgent);
  const first = encoder.pid as number;
  const passages = encoder.encode(
    Array.from({ length: 400 }, (_, n) => `Passage ${n} of a book.`),
    patient,
  );
  process.kill(first, 'SIGKILL');
  await assert.rejects(passages, (error: EncoderError) => error instanceof EncoderError && !error.isRefusal);
  assert.equal((await encodeAgain(encoder, 'Are you there?')).length, 1);
  assert.notEqual(encoder.pid, first);
});

test('after a death there is a pause, in which nothing is started', async () => {
  await using encoder = open({ backoff: { firstMs: 3_600_000, maxMs: 3_600_000 } });
  await encoder.encode(['Ready?'], urgent);
  const passages = encoder.encode(['Some more words.'], patient);
  process.kill(encoder.pid as number, 'SIGKILL');
  await assert.rejects(passages, EncoderError);
  await assert.rejects(encoder.encode(['And now?'], urgent), /stopped and is started again soon/);
  assert.equal(encoder.pid, undefined);
});

test('a process that takes too much memory is killed, and none is started where memory is short', async () => {
  await using greedy = open({ memoryBytesMax: 60 * 1024 ** 2 });
  await assert.rejects(greedy.encode(['A question.'], urgent), /took too much memory/);
  assert.equal(greedy.pid, undefined);
  await using modest = open({ freeBytesMin: 2 ** 50 });
  await assert.rejects(modest.encode(['A question.'], urgent), /needs 1048576 GB of free memory/);
  assert.equal(modest.pid, undefined);
});

test('who waits goes first, and who gives up is left out', async () => {
  await using encoder = open();
  const order: string[] = [];
  const note = (name: string) => () => order.push(name);
  const passages = encoder.encode(
    Array.from({ length: 12 }, (_, n) => `Passage ${n}.`),
    patient,
  );
  const controller = new AbortController();
  const abandoned = encoder.encode(['Never mind.'], { ...patient, signal: controller.signal });
  const question = encoder.encode(['Who is first?'], urgent);
  controller.abort(new Error('gone'));
  await assert.rejects(abandoned, /gone/);
  await Promise.all([passages.then(note('passages')), question.then(note('question'))]);
  assert.deepEqual(order, ['question', 'passages']);
});

test('an idle process ends, and the next text starts another', async () => {
  await using encoder = open({ idleMs: 1 });
  await encoder.encode(['A question.'], urgent);
  await until(() => encoder.pid === undefined);
  assert.equal((await encodeAgain(encoder, 'Another one.')).length, 1);
});
