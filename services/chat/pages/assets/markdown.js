// Turns the Markdown of an answer into a tree of few elements, from which the server makes HTML and the browser makes nodes. There is
// nothing in it that loads anything or leads anywhere: images are their descriptions, links are their texts with the address behind, HTML is text.

/** @typedef {'p' | 'h3' | 'h4' | 'h5' | 'h6' | 'ul' | 'li' | 'blockquote' | 'pre' | 'code' | 'strong' | 'em' | 'del' | 'table' | 'thead' | 'tbody' | 'tr' | 'th' | 'td'} PlainTag */
/**
 * A text, an element, a line break or rule, or the marker of a citation such as `1` or `A1` with its place in the answer.
 * @typedef {string | { tag: PlainTag | 'ol' | 'br' | 'hr', children: Node[], start?: number } | { marker: string, at: number }} Node
 */
/** @typedef {{ raw: string, nodes: Node[] }} Block what a part of the Markdown becomes */
/** @typedef {import('marked').Token} Token */

const markers = /\[(A?\d+)\]/g;
// The library takes the square of the time for texts of nothing but signs, and cannot follow lists in lists without end.
const signs = /[[\]*_<>`~|!]/g;
const signsMax = 1_000;
const deepLine = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){20}/m;
const headings = /** @type {const} */ (['h3', 'h3', 'h4', 'h5', 'h6', 'h6']);

/**
 * A function that reads Markdown, block by block. Server and browser load the library from different places, so it is passed in.
 * @param {typeof import('marked').Marked} Marked
 * @returns {(text: string) => Block[]}
 */
export function markdownReader(Marked) {
  const none = () => undefined;
  const marked = new Marked({ gfm: true, breaks: true });
  marked.use({
    tokenizer: { html: none, tag: none, def: none, reflink: none, autolink: none, url: none },
    extensions: [
      {
        name: 'citation',
        level: 'inline',
        start: (text) => text.search(markers),
        tokenizer(text) {
          const [raw, marker] = /^\[(A?\d+)\]/.exec(text) ?? [];
          return raw === undefined ? undefined : { type: 'citation', raw, marker };
        },
      },
    ],
  });
  return (text) => {
    if ((text.match(signs)?.length ?? 0) > signsMax || deepLine.test(text))
      return [{ raw: text, nodes: [element('p', plainNodes(text))] }];
    const reading = new Reading(text);
    return marked.lexer(text).map((token) => ({ raw: token.raw, nodes: reading.nodesOf([token]) }));
  };
}

/**
 * A text that is no Markdown, such as one of quotes, with its citations.
 * @param {string} text
 * @returns {Node[]}
 */
export function plainNodes(text) {
  /** @type {Node[]} */
  const nodes = [];
  let from = 0;
  for (const { 0: raw, 1: marker = '', index: at } of text.matchAll(markers)) {
    nodes.push(text.slice(from, at), { marker, at });
    from = at + raw.length;
  }
  return [...nodes, text.slice(from)];
}

/** The tokens of one text. They come in its order, so that each citation is found at its place. */
class Reading {
  /** @type {{ marker: string, at: number }[]} */
  #places;
  #next = 0;

  /** @param {string} text */
  constructor(text) {
    this.#places = [...text.matchAll(markers)].map(({ 1: marker = '', index: at }) => ({ marker, at }));
  }

  /**
   * @param {Token[] | undefined} tokens
   * @returns {Node[]}
   */
  nodesOf(tokens = []) {
    return tokens.flatMap((token) => this.#nodesOf(token));
  }

  /**
   * @param {Token} given
   * @returns {Node[]}
   */
  #nodesOf(given) {
    const token =
      /** @type {import('marked').MarkedToken | { type: 'citation', raw: string, marker: string }} */ (given);
    switch (token.type) {
      case 'space':
      case 'def':
        return [];
      case 'citation':
        return [this.#citation(token.marker)];
      case 'heading':
        return [element(headings[token.depth - 1] ?? 'h6', this.nodesOf(token.tokens))];
      case 'paragraph':
        return [element('p', this.nodesOf(token.tokens))];
      case 'blockquote':
        return [element('blockquote', this.nodesOf(token.tokens))];
      case 'code':
        return [element('pre', [element('code', [this.#literal(token.raw, token.text)])])];
      case 'codespan':
        return [element('code', [this.#literal(token.raw, token.text)])];
      case 'list':
        return [this.#list(token)];
      case 'table':
        return [this.#table(token)];
      case 'strong':
      case 'em':
      case 'del':
        return [element(token.type, this.nodesOf(token.tokens))];
      case 'link':
        return [...this.nodesOf(token.tokens), ...(/^https?:/i.test(token.href) ? [` (${token.href})`] : [])];
      case 'image':
        return [this.#literal(token.raw, token.text)];
      case 'checkbox':
        return [token.checked ? '☑ ' : '☐ '];
      case 'br':
      case 'hr':
        return [element(token.type, [])];
      case 'text':
        return token.tokens ? this.nodesOf(token.tokens) : [token.text];
      case 'escape':
        return [token.text];
      default:
        return [given.raw];
    }
  }

  /** @param {string} marker */
  #citation(marker) {
    let index = this.#next;
    while (index < this.#places.length && this.#places[index]?.marker !== marker) index++;
    const place = this.#places[index];
    if (place) this.#next = index + 1;
    return { marker, at: place?.at ?? 0 };
  }

  /**
   * Markers in it are no citations.
   * @param {string} raw
   * @param {string} text
   */
  #literal(raw, text) {
    this.#next += raw.match(markers)?.length ?? 0;
    return text;
  }

  /** @param {import('marked').Tokens.List} list */
  #list({ ordered, start, items }) {
    const children = items.map(({ tokens }) => element('li', this.nodesOf(tokens)));
    return ordered
      ? { tag: /** @type {const} */ ('ol'), children, start: Number(start) || 1 }
      : element('ul', children);
  }

  /** @param {import('marked').Tokens.Table} table */
  #table({ header, rows }) {
    /** @type {(tag: 'th' | 'td', cells: import('marked').Tokens.TableCell[]) => Node} */
    const row = (tag, cells) => {
      const children = cells.map(({ tokens }) => element(tag, this.nodesOf(tokens)));
      return element('tr', children);
    };
    const head = element('thead', [row('th', header)]);
    return element('table', [
      head,
      element(
        'tbody',
        rows.map((cells) => row('td', cells)),
      ),
    ]);
  }
}

/**
 * @param {PlainTag | 'br' | 'hr'} tag
 * @param {Node[]} children
 */
function element(tag, children) {
  return { tag, children };
}
