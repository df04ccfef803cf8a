const closing = '</think>';
/** Names of models that think before they answer. */
const thinkers = /\b(?:r1|qwq)\b|think|reason/i;

/**
 * Leaves out what a model thinks first where the template of its server writes the opening tag into the prompt, so that the answer has the
 * closing one alone. The text of a model that thought so before, or that has the name of one that thinks, waits until that tag.
 */
export class LeadingThought {
  readonly #begins: Set<string>;
  readonly #name: string;
  #isWaiting: boolean;
  #held = '';

  /** `begins` has the names of models that were seen to begin with a thought, and gets this one if it does. */
  constructor(name: string, begins: Set<string>) {
    this.#begins = begins;
    this.#name = name;
    this.#isWaiting = begins.has(name) || thinkers.test(name);
  }

  /** The text that can be passed on after one more piece; empty while it waits. */
  push(piece: string): string {
    this.#held += piece;
    const at = this.#held.indexOf(closing);
    if (at !== -1) {
      const before = this.#isWaiting ? '' : this.#held.slice(0, at);
      this.#begins.add(this.#name);
      this.#isWaiting = false;
      return (
        before +
        this.#take(this.#held.length)
          .slice(at + closing.length)
          .trimStart()
      );
    }
    return this.#isWaiting ? '' : this.#take(this.#held.length - partLength(this.#held));
  }

  /** The text that waited; none if the model was cut while it thought. */
  end(isCut: boolean): string {
    const isThought = this.#isWaiting && isCut;
    return isThought ? '' : this.#take(this.#held.length);
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return taken;
  }
}

/** Length of the end of a text that the closing tag may begin with. */
function partLength(text: string): number {
  for (let length = closing.length - 1; length > 0; length--)
    if (text.endsWith(closing.slice(0, length))) return length;
  return 0;
}
