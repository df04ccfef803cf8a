import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EnvelopeReader, encloseBytes } from './envelope.ts';

test('envelopes come out as they went in, however their bytes are cut', () => {
  const envelopes = fc.array(
    fc.record({ flags: fc.constantFrom(0, 2), payload: fc.uint8Array({ maxLength: 20 }) }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(envelopes, fc.array(fc.nat({ max: 9 })), (sent, cuts) => {
      const reader = new EnvelopeReader(20);
      const received: { flags: number; payload: number[] }[] = [];
      let bytes = Buffer.concat(sent.map(({ flags, payload }) => encloseBytes(flags, payload)));
      for (const cut of [...cuts, bytes.length]) {
        reader.push(bytes.subarray(0, cut));
        bytes = bytes.subarray(cut);
        while (reader.isReady) {
          const next = reader.next();
          assert.ok(next);
          received.push({ flags: next.flags, payload: [...next.payload] });
        }
      }
      assert.deepEqual(
        received,
        sent.map(({ flags, payload }) => ({ flags, payload: [...payload] })),
      );
      assert.equal(reader.heldBytes, 0);
      assert.equal(reader.next(), undefined);
    }),
  );
});

test('a header tells at once of flags that are not supported and of a payload over the limit', () => {
  for (const [header, code] of [
    [[1, 0, 0, 0, 0], 'invalid_input'],
    [[4, 0, 0, 0, 0], 'invalid_input'],
    [[0, 0, 0, 0, 21], 'too_large'],
    [[2, 255, 255, 255, 255], 'too_large'],
  ] as const) {
    const reader = new EnvelopeReader(20);
    reader.push(Buffer.from(header));
    assert.throws(() => reader.isReady, { code });
    assert.throws(() => reader.next(), { code });
  }
});
