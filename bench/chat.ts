/**
 * The chat: how good its rankings and its answers are beside FTS5 alone, MiniSearch and Orama, on labelled sets (folders with docs.jsonl,
 * queries.jsonl and qrels.tsv); how long a search among many chunks takes; how fast documents come in, and with how much memory; how long
 * the first token of a model takes to a client.
 * Models are measured on sets that they were not learned on.
 *
 *   node bench/chat.ts quality|answers|dense|speed FOLDER [questions or chunks] [--database URL]
 *   node bench/chat.ts ingest|vectors|first-token
 */
import { parseArgs } from 'node:util';
import { measureDense } from './chat/dense.ts';
import { measureFirstToken } from './chat/first-token.ts';
import { measureIngest } from './chat/ingest.ts';
import { measureAnswers, measureQuality } from './chat/quality.ts';
import { measureSpeed } from './chat/speed.ts';
import { measureVectors } from './chat/vectors.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { database: { type: 'string' } },
});
const [part = '', folder = '', count] = positionals;
if (part === 'quality') await measureQuality(folder, Number(count ?? 100_000), values.database);
else if (part === 'answers') await measureAnswers(folder, Number(count ?? 6_000));
else if (part === 'speed') await measureSpeed(folder, Number(count ?? 100_000));
else if (part === 'dense') await measureDense(folder, Number(count ?? 500));
else if (part === 'vectors') await measureVectors(100_000, 1_024);
else if (part === 'ingest') await measureIngest();
else if (part === 'first-token') await measureFirstToken();
else throw new Error('name what to measure: quality, answers, dense, speed, vectors, ingest or first-token');
