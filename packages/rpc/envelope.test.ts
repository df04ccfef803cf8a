import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EnvelopeParser, writeEnvelope } from './envelope.ts';

test('envelopes are read as they were written, in whatever pieces their bytes arrive', () => {
  const envelopes = fc.array(
    fc.record({ flags: fc.constantFrom(0, 2), payload: fc.uint8Array({ maxLength: 20 }) }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(envelopes, fc.array(fc.nat({ max: 9 })), (sent, cuts) => {
      const parser = new EnvelopeParser(20);
      const received: { flags: number; payload: number[] }[] = [];
      let bytes = Buffer.concat(sent.map(({ flags, payload }) => writeEnvelope(flags, payload)));
      for (const cut of [...cuts, bytes.length]) {
        parser.push(bytes.subarray(0, cut));
        bytes = bytes.subarray(cut);
        for (let next = parser.next(); next; next = parser.next()) {
          received.push({ flags: next.flags, payload: [...next.payload] });
        }
      }
      assert.deepEqual(
        received,
        sent.map(({ flags, payload }) => ({ flags, payload: [...payload] })),
      );
      assert.equal(parser.heldBytes, 0);
      assert.equal(parser.next(), undefined);
    }),
  );
});

test('a header with unsupported flags or a payload over the limit is refused before its payload arrives', () => {
  for (const [header, code] of [
    [[1, 0, 0, 0, 0], 'invalid_input'],
    [[4, 0, 0, 0, 0], 'invalid_input'],
    [[0, 0, 0, 0, 21], 'too_large'],
    [[2, 255, 255, 255, 255], 'too_large'],
  ] as const) {
    const parser = new EnvelopeParser(20);
    parser.push(Buffer.from(header));
    assert.throws(() => parser.next(), { code });
  }
});
