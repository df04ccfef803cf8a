import { knownLibraries } from '../documents/index.ts';
import { librariesOf } from '../library.ts';
import type { Owner } from '../owner.ts';
import { defaultStrategy, headingsOf } from '../retrieval/index.ts';
import type { TurnParts } from '../turns/index.ts';

const startersMax = 3;
const headingsTried = 12;
const ownersKept = 200;
const confidenceMin = 0.6;

/** Questions to begin with, made from the headings of the documents. Only those are shown that the documents answer. */
export class Starters {
  readonly #known = new Map<string, { readonly headings: string; readonly questions: readonly string[] }>();

  async for({ database, retriever, library }: TurnParts, owner: Owner): Promise<readonly string[]> {
    const libraries = await knownLibraries(database, librariesOf(library, owner, undefined));
    const headings = await headingsOf(database, libraries, headingsTried);
    const key = libraries.join();
    const known = this.#known.get(key);
    if (known?.headings === headings.join('\n')) return known.questions;
    const questions: string[] = [];
    for (const heading of headings) {
      if (questions.length === startersMax) break;
      const query = heading.endsWith('?') ? heading : `What is said about “${heading}”?`;
      const request = { query, strategy: defaultStrategy, topK: 3, rerank: true, libraries };
      const { confidence } = await retriever.search(request);
      if (confidence >= confidenceMin) questions.push(query);
    }
    this.#known.delete(key);
    this.#known.set(key, { headings: headings.join('\n'), questions });
    if (this.#known.size > ownersKept) this.#known.delete(this.#known.keys().next().value as string);
    return questions;
  }
}
