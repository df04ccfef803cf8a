import { type Answered, extractiveAnswer } from './answers/extractive.ts';
import { type AnsweredPart, answerByParts } from './answers/parts.ts';
import { changesTopic, intentOf, withoutCourtesy } from './everyday/intent.ts';
import { sourcesOf } from './everyday/quoted.ts';
import { everydayReply } from './everyday/reply.ts';
import type { Found, Ranked } from './passages/found.ts';
import { meantQuestions } from './questions/follow-up.ts';
import type { ChatMessage } from './questions/message.ts';
import { answerableParts } from './questions/parts.ts';
import { rephrased } from './questions/rephrased.ts';
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
  const intent = intentOf(question.text);
  const reply = intent && (await everydayReply(await search.documents(), intent, question.language));
  if (reply) return { kind: 'reply', question: first, answer: reply, sources: sourcesOf(reply) };
  const part = await search.partForDocuments(first);
  const senses = part === undefined ? { asked, meant } : { asked: part, meant: [part] };
  const rewritten = part === undefined && first !== asked ? await search.rewritten?.(asked) : undefined;
  const whole = await bestAnswer(question, senses, search);
  const best = first === asked ? await byParts(question, whole, search) : whole;
  const isSame = rewritten === undefined || meant.includes(rewritten);
  const {
    found,
    answer,
    isLikely,
    question: understood,
  } = isSame
    ? { ...best, question: first }
    : beside(best, await bestAnswer(question, { asked, meant: [rewritten] }, search), question.sourcesMax);
  const sources = found.ranked.map(({ source }) => source);
  const isPart = part !== undefined;
  return { kind: 'passages', question: understood, answer, sources, found, isLikely, isPart };
}

/** The answer part by part where a question asks for several things, unless one place answers all of it. */
async function byParts<F extends Found, A extends Answered<F> & { readonly question: string }>(
  question: AskedQuestion,
  whole: A,
  search: Search<F>,
): Promise<A> {
  const parts = answerableParts(whole.question);
  if (parts.length === 1) return whole;
  const answers: AnsweredPart<F>[] = [];
  for (const [at, asked] of parts.entries()) {
    const before = parts.slice(0, at).map((content) => ({ role: 'user', content }) as const);
    const meant = meantQuestions(asked, before);
    answers.push({ ...(await bestAnswer(question, { asked, meant }, search)), part: asked });
  }
  return answerByParts(whole, answers, question);
}

/** Passages of the better answer that keep their places when those of the other one come beside them. */
const keptMax = 3;

/** The better of two answers, with passages of both. */
function beside<F extends Found, A extends Answered<F>>(one: A, other: A, sourcesMax: number): A {
  const [best, second] = other.likelihood > one.likelihood ? [other, one] : [one, other];
  const own = best.found.ranked;
  const isNew = ({ passage: { id } }: Ranked) => own.every(({ passage }) => passage.id !== id);
  const ranked = [
    ...own.slice(0, keptMax),
    ...second.found.ranked.filter(isNew).slice(0, keptMax),
    ...own.slice(keptMax),
  ]
    .slice(0, sourcesMax)
    .map((each, index) => ({ ...each, source: { ...each.source, index: index + 1 } }));
  const documentCount = new Set(ranked.map(({ source }) => source.document_id)).size;
  return { ...best, found: { ...best.found, ranked, documentCount } };
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
): Promise<Answered<F> & { readonly question: string }> {
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
