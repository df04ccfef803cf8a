// A turn on the page while its answer is written. When it is done, the page shows it as the server draws it.
import { markdownReader, plainNodes } from './markdown.js';

/** @typedef {import('./markdown.js').Node} Node */
/** @typedef {import('./transport.js').Source} Source */

/** @type {Record<string, string>} */
const stages = {
  retrieving: 'Looking for passages',
  calling_tools: 'Asking the domain data API',
  reading: 'Reading the document',
  loading: 'Waiting for the model',
  thinking: 'Thinking',
  generating: 'Writing the answer',
};

/**
 * @param {Element} turns
 * @param {string} question
 * @param {object} on
 * @param {(text: string) => void} on.announce tells people who do not see the page
 * @param {(id: string) => void} on.session once the chat is known that the turn belongs to
 */
export function addTurn(turns, question, { announce, session }) {
  turns.querySelector('.empty')?.remove();
  for (const old of turns.querySelectorAll('.turn.live')) old.classList.remove('live');
  for (const failed of turns.querySelectorAll('.turn.failed')) failed.remove();
  const turn = element('section', 'turn live');
  const heading = element('h2', 'question', question);
  const answer = element('article', 'answer');
  const prose = element('div', 'prose markdown writing');
  const foot = element('p', 'small muted stage', 'Asking');
  answer.setAttribute('aria-busy', 'true');
  answer.append(prose, foot);
  turn.append(heading, answer);
  turns.append(turn);
  turn.scrollIntoView({ block: 'start' });
  const writer = new Writer(prose);
  return {
    /** True if the server goes on for a moment when the page is left. */
    outlivesPage: false,
    begin(/** @type {boolean} */ bySocket) {
      this.outlivesPage = bySocket;
      writer.clear();
    },
    session,
    text: (/** @type {string} */ text) => writer.write(text),
    sources(/** @type {Source[]} */ sources) {
      writer.sources = sources;
    },
    stage(/** @type {string} */ stage, /** @type {string | undefined} */ tool) {
      const name = stages[stage] ?? stage;
      foot.textContent = tool ? `${name}: ${tool}` : name;
      announce(name);
    },
    end() {
      writer.flush();
      prose.classList.remove('writing');
      answer.removeAttribute('aria-busy');
      foot.remove();
    },
    fail(/** @type {(string | globalThis.Node)[]} */ ...message) {
      this.end();
      turn.classList.add('failed');
      const problem = element('div', 'notice bad');
      problem.setAttribute('role', 'alert');
      const words = element('div');
      words.append(...message);
      problem.append(words);
      answer.append(problem);
    },
  };
}

/** Draws Markdown that grows. Blocks that did not change stay as they are, so that people can select text in them. */
class Writer {
  /** @type {Source[]} */
  sources = [];
  #text = '';
  #isWaiting = false;
  /** @type {{ raw: string, nodes: ChildNode[] }[]} */
  #drawn = [];
  /** @type {((text: string) => import('./markdown.js').Block[]) | undefined} */
  #read;
  #prose;

  /** @param {Element} prose */
  constructor(prose) {
    this.#prose = prose;
    void import('./marked.esm.js')
      .then(
        ({ Marked }) => markdownReader(Marked),
        () => (/** @type {string} */ text) => [{ raw: text, nodes: plainNodes(text) }],
      )
      .then((read) => {
        this.#read = read;
        this.#draw();
      });
  }

  clear() {
    this.#text = '';
    this.#draw();
  }

  /** @param {string} text */
  write(text) {
    this.#text += text;
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    // At most once a frame, however fast the pieces come; in a hidden tab there are no frames.
    if (document.hidden) setTimeout(() => this.flush(), 250);
    else requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.#isWaiting = false;
    this.#draw();
  }

  #draw() {
    if (!this.#read) return;
    const blocks = this.#read(this.#text);
    let same = 0;
    while (same < blocks.length - 1 && this.#drawn[same]?.raw === blocks[same]?.raw) same++;
    for (const { nodes } of this.#drawn.splice(same)) for (const node of nodes) node.remove();
    for (const { raw, nodes } of blocks.slice(same)) {
      const children = nodes.map((node) => this.#nodeOf(node));
      this.#prose.append(...children);
      this.#drawn.push({ raw, nodes: children });
    }
  }

  /**
   * @param {Node} node
   * @returns {ChildNode}
   */
  #nodeOf(node) {
    if (typeof node === 'string') return document.createTextNode(node);
    if ('marker' in node) return this.#citation(node.marker);
    const made = document.createElement(node.tag);
    if (made instanceof HTMLOListElement && 'start' in node) made.start = node.start ?? 1;
    made.append(...node.children.map((child) => this.#nodeOf(child)));
    return made;
  }

  /** @param {string} marker */
  #citation(marker) {
    const source = this.sources.find(({ index }) => String(index) === marker);
    if (!source) return element('span', 'cite', marker);
    const link = document.createElement('a');
    link.className = 'cite';
    link.href = `/documents/${source.document_id}?start=${source.start}&end=${source.end}#passage`;
    link.textContent = marker;
    link.ariaLabel = `Source ${marker}: ${source.title}`;
    return link;
  }
}

/**
 * @param {string} tag
 * @param {string} [className]
 * @param {string} [text]
 */
export function element(tag, className = '', text = '') {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}
