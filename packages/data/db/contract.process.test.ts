import { describe } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { processContract } from './contract/processes.suite.ts';

const postgres = await testDatabaseUrl();

describe('on SQLite', () => processContract(undefined));
describe('on PostgreSQL', { skip: postgres.skip }, () => processContract(postgres.url));
