/**
 * The chat: how good its rankings and its answers are beside FTS5 alone, MiniSearch and Orama, on labelled sets (folders with docs.jsonl,
 * queries.jsonl and qrels.tsv); how long a search among many chunks takes; how fast documents come in, and with how much memory; how long
 * the first token of a model takes to a client; how it answers questions about manuals and tables of Debian packages.
 * `model` asks the same of a model behind LLM_BASE_URL.
 * Models are measured on sets that they were not learned on.
 *
 *   node proof/bench/chat.ts quality|answers|dense|paraphrases|speed FOLDER [questions or chunks] [--database URL]
 *   node proof/bench/chat.ts ingest|vectors|first-token
 *   node proof/bench/chat.ts real|model [first|…|eighth] [--held-back] [--verbose] [--packages FOLDER]
 */
import { parseArgs } from 'node:util';
import { measureDense } from './chat/dense.ts';
import { measureFirstToken } from './chat/first-token.ts';
import { measureIngest } from './chat/ingest.ts';
import { measureParaphrases } from './chat/paraphrases.ts';
import { measureAnswers, measureQuality } from './chat/quality.ts';
import { type RealSet, tuningSets } from './chat/real/grades.ts';
import { measureReal } from './chat/real/measure.ts';
import { measureSpeed } from './chat/speed.ts';
import { measureVectors } from './chat/vectors.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string' },
    packages: { type: 'string' },
    'held-back': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const [part = '', folder = '', count] = positionals;
if (part === 'quality') await measureQuality(folder, Number(count ?? 100_000), values.database);
else if (part === 'answers') await measureAnswers(folder, Number(count ?? 6_000));
else if (part === 'speed') await measureSpeed(folder, Number(count ?? 100_000));
else if (part === 'paraphrases') await measureParaphrases(folder);
else if (part === 'dense') await measureDense(folder, Number(count ?? 500));
else if (part === 'vectors') await measureVectors(100_000, 1_024);
else if (part === 'ingest') await measureIngest();
else if (part === 'first-token') await measureFirstToken();
else if (part === 'real')
  await measureReal({
    sets: setsOf(),
    isVerbose: values.verbose,
    folder: values.packages,
  });
else if (part === 'model') {
  const { LLM_BASE_URL = '', LLM_MODEL = '', LLM_API_KEY } = process.env;
  if (LLM_BASE_URL === '' || LLM_MODEL === '') throw new Error('set LLM_BASE_URL and LLM_MODEL');
  await measureReal({
    sets: setsOf(),
    isVerbose: values.verbose,
    folder: values.packages,
    model: { LLM_BASE_URL, LLM_MODEL, ...(LLM_API_KEY && { LLM_API_KEY }) },
  });
} else
  throw new Error(
    'name what to measure: quality, answers, real, model, dense, paraphrases, speed, vectors, ingest or first-token',
  );

/** The set that is named, or all that may be looked at while the answers are improved. */
function setsOf(): readonly RealSet[] {
  if (values['held-back']) return ['held-back'];
  return folder === '' ? tuningSets : tuningSets.filter((set) => set === folder);
}
