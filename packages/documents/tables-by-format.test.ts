import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extract } from './extract.ts';
import { mediaTypeOf } from './media-types.ts';
import { tableWriters, testTables } from './testing-tables.ts';

const formats = ['html', 'md', 'docx', 'xlsx', 'odt', 'ods', 'pptx', 'ruled.pdf'];

for (const format of formats)
  test(`cells of tables stand beside the names of their columns: ${format}`, async () => {
    for (const { name, read, ...table } of testTables) {
      const bytes = tableWriters[format]?.(table) ?? new Uint8Array();
      const { blocks } = await extract(mediaTypeOf(`table.${format}`, bytes), bytes);
      const rows = blocks.map(({ text }) => text).filter((text) => text.includes(': '));
      assert.deepEqual(rows, read, name);
    }
  });
