import { describe, test } from 'node:test';
import { pgbouncerIsMissing } from '@octavo/testing/engines';
import { filesOfServices, runFile } from './files-of-services.ts';

describe('through PgBouncer in transaction mode', { skip: pgbouncerIsMissing() }, () => {
  for (const file of filesOfServices)
    test(`${file} passes`, () => runFile(file, { TEST_DATABASE: 'postgres', TEST_POOLER: 'transaction' }));
});
