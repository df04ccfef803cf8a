import assert from 'node:assert/strict';
import { test } from 'node:test';
import { versionsIn, versionTag } from './versions.ts';

test('If-Match names versions', () => {
  const cases: readonly [string | undefined, readonly number[] | undefined][] = [
    [undefined, undefined],
    [' * ', undefined],
    ['"v3"', [3]],
    ['"v3", W/"v4","v5" ,', [3, 5]],
    ['"3", "v03", "v-1", "v9999999999999999"', []],
  ];
  for (const [header, versions] of cases) assert.deepEqual(versionsIn(header), versions, String(header));
  for (const malformed of ['v3', '"v3" junk', '"v3""v4"', '', 'W/"v3"'])
    assert.throws(() => versionsIn(malformed), { code: 'precondition_failed' }, malformed);
  assert.deepEqual(versionsIn('"7"', ''), [7]);
  assert.deepEqual([versionTag(3), versionTag(7, '')], ['"v3"', '"7"']);
});
