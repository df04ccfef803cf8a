import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import fc from 'fast-check';
import { labels } from './labels.ts';
import { loadModel, shippedWeights } from './model.ts';

const model = loadModel();
const labelOf = (text: string) => model.classify(text).label;
const positiveIn = (text: string) => model.classify(text).probabilities.positive;
const negativeIn = (text: string) => model.classify(text).probabilities.negative;

test('plain praise, complaint and notice get different labels', () => {
  assert.equal(labelOf('I love this place, the food was wonderful!'), 'positive');
  assert.equal(labelOf('Horrible service, I am so disappointed.'), 'negative');
  assert.equal(labelOf('The meeting is on Tuesday at ten in room 204.'), 'neutral');
});

test('a negation turns praise', () => {
  assert.equal(labelOf('The food is good.'), 'positive');
  assert.equal(labelOf('The food is not good.'), 'negative');
  assert.equal(labelOf("I don't like it and I don't recommend it."), 'negative');
  assert.ok(negativeIn('This was never fun') > negativeIn('This was fun'));
});

test('a negation ends with its clause', () => {
  const text = "I wasn't there, but everybody says it was great";
  assert.ok(positiveIn(text) > negativeIn(text));
});

test('emoji and emoticons count', () => {
  assert.equal(labelOf('Home at last 😍'), 'positive');
  assert.equal(labelOf('Home at last 😡'), 'negative');
  assert.ok(positiveIn('see you tomorrow :)') > positiveIn('see you tomorrow'));
  assert.ok(negativeIn('see you tomorrow :(') > negativeIn('see you tomorrow'));
  assert.deepEqual(model.classify('thumbs 👍🏽'), model.classify('thumbs 👍'));
});

test('a hashtag of several words says its words', () => {
  assert.ok(positiveIn('#BestDayEver') > positiveIn('#TuesdayAfternoonPost'));
});

test('addresses and the names in mentions do not count', () => {
  const plain = model.classify('Read the report');
  assert.deepEqual(model.classify('Read the report https://good.example/love'), plain);
  assert.deepEqual(model.classify('@lovely Read the report'), model.classify('@awful Read the report'));
});

test('of the longer prose beside this file, seven in ten of each class are found', () => {
  const lines = readFileSync(new URL('prose.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  const examples = lines.map((line) => line.split('\t') as [string, string]);
  assert.ok(examples.length >= 60);
  for (const label of labels) {
    const own = examples.filter(([truth]) => truth === label);
    const found = own.filter(([, text]) => labelOf(text) === label);
    assert.ok(found.length >= 0.7 * own.length, `${label}: ${found.length} of ${own.length}`);
  }
});

test('one strong sentence is heard in a long text of plain ones', () => {
  const plain = 'The train leaves from platform four at a quarter past eight. '.repeat(12);
  const before = negativeIn(plain);
  assert.ok(negativeIn(`${plain}The staff were rude and the journey was a horrible disaster.`) > before);
});

test('without a word it is neutral', () => {
  for (const text of ['', ' ', '\n\t', '\u0000', '\u200b', '🏴', 'https://example.com/'])
    assert.equal(labelOf(text), 'neutral', JSON.stringify(text));
});

test('a text of 10,000 characters, of any kind, is answered', () => {
  for (const part of ['good ', 'a', '!', '😍', '\ud83d', 'not bad. ', '#a', ':)', '"', "a'b-"])
    assertSound(part.repeat(Math.ceil(10_000 / part.length)));
});

test('any text gets probabilities that sum to 1 and the label of the greatest', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => assertSound(text)),
    { numRuns: 200 },
  );
});

test('the same text gets the same answer, whatever was read before', () => {
  const texts = ['So happy today!', 'meh', 'Worst. Day. Ever.', 'Zyxwv qwrt not great', ''];
  const fresh = loadModel();
  assert.deepEqual(
    texts.toReversed().map((text) => fresh.classify(text)),
    texts.map((text) => model.classify(text)).toReversed(),
  );
  assert.deepEqual(
    texts.map((text) => fresh.classify(text)),
    texts.map((text) => model.classify(text)),
  );
});

test('the weights are under 15 MB', () => {
  assert.ok(statSync(shippedWeights).size < 15e6);
});

test('a file that is cut short or something else is refused', () => {
  const folder = testFolder('sentiment');
  const file = join(folder, 'weights');
  writeFileSync(file, readFileSync(shippedWeights).subarray(0, 1_000_000));
  assert.throws(() => loadModel(file), /cut short/);
  writeFileSync(file, 'label\ttext\n');
  assert.throws(() => loadModel(file), /not a weights file/);
  assert.throws(() => loadModel(join(folder, 'missing')), /ENOENT/);
});

function assertSound(text: string): void {
  const { label, probabilities } = model.classify(text);
  const values = Object.values(probabilities);
  assert.ok(Math.abs(values.reduce((a, b) => a + b) - 1) < 1e-6);
  assert.ok(values.every((value) => value >= 0 && value <= 1));
  assert.equal(probabilities[label], Math.max(...values));
}
