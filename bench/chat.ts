/**
 * The chat: how good its rankings and its answers are beside FTS5 alone, MiniSearch and Orama, on labelled sets (folders with docs.jsonl,
 * queries.jsonl and qrels.tsv); how long a search among many chunks takes; how fast documents come in, and with how much memory; how long
 * the first token of a model takes to a client.
 * Models are measured on sets that they were not learned on.
 *
 *   node bench/chat.ts quality|answers|speed FOLDER [questions or chunks]
 *   node bench/chat.ts ingest|first-token
 */
import { measureFirstToken } from './chat/first-token.ts';
import { measureIngest } from './chat/ingest.ts';
import { measureAnswers, measureQuality } from './chat/quality.ts';
import { measureSpeed } from './chat/speed.ts';

const [part = '', folder = '', count] = process.argv.slice(2);
if (part === 'quality') await measureQuality(folder, Number(count ?? 100_000));
else if (part === 'answers') await measureAnswers(folder, Number(count ?? 6_000));
else if (part === 'speed') await measureSpeed(folder, Number(count ?? 100_000));
else if (part === 'ingest') await measureIngest();
else if (part === 'first-token') await measureFirstToken();
else throw new Error('name what to measure: quality, answers, speed, ingest or first-token');
