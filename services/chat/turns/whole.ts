import { type Passage, type Ranked, sourceOfPassage } from '@octavo/reader';
import { type ChatModel, noAnswer, promptOf, tokensOf } from '../model/index.ts';
import { type DraftParts, streamDraft } from './draft.ts';
import { checked, type Written } from './write-answer.ts';

/** Part of a context that the text of documents may take, beside rules, history and answer. */
const textShare = 0.55;
/** A part has at least this many tokens, if there is as much, and documents that fit have at most this many parts. */
const partTokens = 400;
const partsMax = 16;
/** Parts of a long document that are read one by one; what comes behind is left out. */
const readMax = 24;
const leastNoteTokens = 60;
const mostNoteTokens = 300;

export interface WholeParts extends Omit<DraftParts, 'found'> {
  /** All passages of the documents, in their order. */
  readonly passages: readonly Passage[];
  readonly onProgress: (progress: { readonly done: number; readonly total: number }) => void;
}

/** A text that was written from whole documents, and their parts as its sources. */
export interface WholeWritten {
  readonly written: Written;
  readonly ranked: readonly Ranked[];
}

/**
 * Writes a text from all that documents say: from their text where it fits the context of the model, else from notes on each part.
 * `onFirst` gets the sources before the first text. Resolves to undefined if the model fails before that.
 */
export async function writeWhole(
  parts: WholeParts,
  model: ChatModel,
  onFirst: (ranked: readonly Ranked[]) => void,
): Promise<WholeWritten | undefined> {
  const contextTokens = await model.contextTokens(parts.modelName ?? model.defaultName);
  const room = Math.floor(contextTokens * textShare);
  const total = parts.passages.reduce((sum, { text }) => sum + tokensOf(text), 0);
  const isWhole = total <= room;
  const groups = groupsOf(parts.passages, isWhole ? Math.max(partTokens, total / partsMax) : room);
  const ranked = groups.slice(0, readMax).map(rankedOf);
  const prompted = isWhole ? ranked : await notesOn(ranked, parts, model, { contextTokens, room });
  if (!prompted) return undefined;
  let hasBegun = false;
  const draftParts: DraftParts = {
    ...parts,
    found: { ranked },
    prompted,
    onText(text) {
      if (!hasBegun) onFirst(ranked);
      hasBegun = true;
      parts.onText(text);
    },
  };
  const drafted = await streamDraft(draftParts, model, { tools: [], contextTokens });
  if (drafted.saysNothing || (drafted.problem !== undefined && drafted.text === '')) return undefined;
  const written = checked(draftParts, drafted);
  const left = groups.length - ranked.length;
  const warnings = [
    ...written.warnings,
    ...(drafted.problem === undefined ? [] : [`The model ${drafted.problem}. The text is not whole.`]),
    ...(left > 0 ? [`Only the first ${ranked.length} of ${groups.length} parts were read.`] : []),
  ];
  return { ranked, written: { ...written, warnings } };
}

/** Passages of one document in a row, up to a number of tokens. */
function groupsOf(passages: readonly Passage[], tokensMax: number): Passage[][] {
  const groups: Passage[][] = [];
  let left = 0;
  for (const passage of passages) {
    const size = tokensOf(passage.text);
    const last = groups.at(-1);
    if (last && size <= left && last[0]?.document === passage.document) last.push(passage);
    else {
      groups.push([passage]);
      left = tokensMax;
    }
    left -= size;
  }
  return groups;
}

function rankedOf([first, ...neighbors]: readonly Passage[], index: number): Ranked {
  const passage = first as Passage;
  return { passage, neighbors, source: sourceOfPassage(index + 1, passage) };
}

/** Notes on each part in the place of its text; undefined if the model fails. */
async function notesOn(
  ranked: readonly Ranked[],
  parts: WholeParts,
  model: ChatModel,
  { contextTokens, room }: { readonly contextTokens: number; readonly room: number },
): Promise<Ranked[] | undefined> {
  const { originalQuestion, nowMs, signal, onProgress } = parts;
  const name = parts.modelName ?? model.defaultName;
  const maxTokens = Math.min(mostNoteTokens, Math.max(leastNoteTokens, Math.floor(room / ranked.length)));
  const question = `Which facts of this part of the document count for this request? Write them down in short sentences. The request: ${originalQuestion}`;
  const notes: Ranked[] = [];
  for (const [done, part] of ranked.entries()) {
    onProgress({ done, total: ranked.length });
    const about = { ranked: [part], calls: undefined, history: [], instructions: undefined };
    const prompt = promptOf({ question, ...about, nowMs, contextTokens });
    let note = '';
    try {
      for await (const piece of model.stream({ ...prompt, name, maxTokens, tools: [], signal }))
        if ('text' in piece) note += piece.text;
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
    if (note.trim() !== '' && !note.includes(noAnswer))
      notes.push({ source: part.source, passage: { ...part.passage, text: note } });
  }
  onProgress({ done: ranked.length, total: ranked.length });
  return notes.length === 0 ? undefined : notes;
}
