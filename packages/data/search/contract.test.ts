import { describe } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { boundedWordContract } from './contract/bounded-words.suite.ts';
import { containsContract } from './contract/contains.suite.ts';
import { substringContract } from './contract/substrings.suite.ts';
import { wordContract } from './contract/words.suite.ts';

const postgres = await testDatabaseUrl();

describe('on SQLite', () => everything(undefined));
describe('on PostgreSQL', { skip: postgres.skip }, () => everything(postgres.url));

function everything(url: string | undefined): void {
  substringContract(url);
  wordContract(url);
  boundedWordContract(url);
  containsContract(url);
}
