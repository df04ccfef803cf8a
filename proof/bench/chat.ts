/**
 * The chat: how good its rankings and its answers are beside FTS5 alone, MiniSearch and Orama, on labelled sets (folders with docs.jsonl,
 * queries.jsonl and qrels.tsv); how long a search among many chunks takes; how fast documents come in, and with how much memory; how long
 * the first token of a model takes to a client; how it answers questions about manuals and tables of Debian packages.
 * `model` asks the same of a model behind LLM_BASE_URL. `rules` switches each rule about language off, and tells what it is worth.
 * Models are measured on sets that they were not learned on.
 *
 *   node proof/bench/chat.ts quality|answers|dense|paraphrases|speed FOLDER [questions or chunks] [--database URL] [--encoder]
 *   node proof/bench/chat.ts ingest|first-token
 *   node proof/bench/chat.ts vectors [dimensions]
 *   node proof/bench/chat.ts rules [FOLDER of libraries] [--rule NAME]... [--together] [--packages FOLDER]
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
import { measureRules } from './chat/rules/measure.ts';
import { measureSpeed } from './chat/speed.ts';
import { measureVectors } from './chat/vectors.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string' },
    packages: { type: 'string' },
    encoder: { type: 'boolean', default: false },
    'held-back': { type: 'boolean', default: false },
    rule: { type: 'string', multiple: true, default: [] },
    together: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const [part = '', folder = '', count] = positionals;
if (part === 'quality') {
  const options = { url: values.database, hasEncoder: values.encoder };
  await measureQuality(folder, Number(count ?? 100_000), options);
} else if (part === 'answers') await measureAnswers(folder, Number(count ?? 6_000));
else if (part === 'speed') await measureSpeed(folder, Number(count ?? 100_000));
else if (part === 'paraphrases') await measureParaphrases(folder, values.encoder);
else if (part === 'dense') await measureDense(folder, Number(count ?? 500));
else if (part === 'vectors') await measureVectors(100_000, Number(folder || 1_024));
else if (part === 'ingest') await measureIngest();
else if (part === 'first-token') await measureFirstToken();
else if (part === 'rules')
  await measureRules({
    libraries: folder,
    packages: values.packages,
    named: values.rule,
    isTogether: values.together,
  });
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
    'name what to measure: quality, answers, real, rules, model, dense, paraphrases, speed, vectors, ingest or first-token',
  );

/** The set that is named, or all that may be looked at while the answers are improved. */
function setsOf(): readonly RealSet[] {
  if (values['held-back']) return ['held-back'];
  return folder === '' ? tuningSets : tuningSets.filter((set) => set === folder);
}
