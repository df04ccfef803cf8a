import { type Answered, extractiveAnswer } from './answers/extractive.ts';
import { changesTopic, type Intent, intentOf, withoutCourtesy } from './everyday/intent.ts';
import { sourcesOf } from './everyday/quoted.ts';
import { everydayReply } from './everyday/reply.ts';
import type { Found } from './passages/found.ts';
import { meantQuestions } from './questions/follow-up.ts';
import type { ChatMessage } from './questions/message.ts';
import { rephrased } from './questions/spelling.ts';
import type { AskedQuestion, Reading, Search } from './reading.ts';

/** Number of passages that are read for an answer; fewer may be shown. */
const readMax = 10;
/** Other senses of a question are not tried above this. */
const sureEnough = 0.7;
const answeredFrom = 0.5;

/** Reads a question after the messages before it, and what a search finds for it. Never says anything that is not in a document. */
export async function read<F extends Found>(
  question: AskedQuestion,
  history: readonly ChatMessage[],
  search: Search<F>,
): Promise<Reading<F>> {
  const asked = withoutCourtesy(question.text);
  const meant = changesTopic(question.text) ? [asked] : meantQuestions(asked, history);
  const [first = asked] = meant;
  const intent = intentOf(question.text) ?? intentMeant(meant);
  const reply = intent && (await everydayReply(await search.documents(), intent, question.language));
  if (reply) return { kind: 'reply', question: first, answer: reply, sources: sourcesOf(reply) };
  const part = await search.partForDocuments(first);
  const senses = part === undefined ? { asked, meant } : { asked: part, meant: [part] };
  const { found, answer, isLikely } = await bestAnswer(question, senses, search);
  const sources = found.ranked.map(({ source }) => source);
  return { kind: 'passages', question: first, answer, sources, found, isLikely, isPart: part !== undefined };
}

/** The intent of a follow-up that asks who made what was spoken of, or for its license. */
function intentMeant(meant: readonly string[]): Intent | undefined {
  return meant.map(intentOf).find((intent) => intent?.kind === 'author' || intent?.kind === 'license');
}

/** A question without its context, and in the senses that it may have, likeliest first. */
interface Senses {
  readonly asked: string;
  readonly meant: readonly string[];
}

/**
 * The answer in quotes, to the question in the sense that has the best one. It is asked once more with other words for what the documents
 * do not have.
 */
async function bestAnswer<F extends Found>(
  { language, sourcesMax }: AskedQuestion,
  { asked, meant }: Senses,
  search: Search<F>,
): Promise<Answered<F>> {
  const answerTo = async (question: string) => {
    const limit = Math.max(readMax, sourcesMax);
    const passages = await search.passages({ text: question, asked, limit });
    return { ...extractiveAnswer(passages, { sourcesMax, language }), question, passages };
  };
  const betterOf = <A extends Answered>(one: A, other: A) =>
    other.likelihood > one.likelihood ? other : one;
  const [first = asked] = meant;
  let best = await answerTo(first);
  // A follow-up that replaces a thing wins as soon as it has an answer.
  const enough = first.endsWith(asked) ? sureEnough : answeredFrom;
  for (const question of meant.slice(1)) {
    // A question that may go on is about something else only if nothing answers it in any other sense.
    const isAlone = question === asked || first === asked;
    if (best.likelihood >= enough || (isAlone && best.isLikely)) break;
    best = betterOf(best, await answerTo(question));
  }
  const passages = best.passages.ranked.map(({ passage }) => passage);
  const other = rephrased(best.question, best.passages.evidence, passages);
  return other === undefined ? best : betterOf(best, await answerTo(other));
}
