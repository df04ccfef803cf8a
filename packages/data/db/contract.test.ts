import { describe } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { lifecycleContract } from './contract/lifecycle.suite.ts';
import { readContract } from './contract/reads.suite.ts';
import { statementContract } from './contract/statements.suite.ts';
import { writeContract } from './contract/writes.suite.ts';

const postgres = await testDatabaseUrl();

describe('on SQLite', () => everything(undefined));
describe('on PostgreSQL', { skip: postgres.skip }, () => everything(postgres.url));

function everything(url: string | undefined): void {
  statementContract(url);
  writeContract(url);
  readContract(url);
  lifecycleContract(url);
}
