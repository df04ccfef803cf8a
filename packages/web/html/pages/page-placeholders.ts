/** The context of a value in a template: between tags, inside a tag, in a quoted attribute, or at the start of a URL. */
export type Slot = 'content' | 'tag' | 'attribute' | 'url';

/**
 * The slots of a template's values, determined once from its literal parts and cached. Throws a `TypeError` for a context in
 * which escaping cannot make a value safe, and for what our Content-Security-Policy would block anyway (inline styles and event
 * handlers).
 */
export function slotsOf(strings: TemplateStringsArray): readonly Slot[] {
  const known = slotsByTemplate.get(strings);
  if (known) return known;
  const slots = readSlots(strings);
  slotsByTemplate.set(strings, slots);
  return slots;
}

/** Returns true if a browser may follow the value of an attribute. */
export function isUrlAttribute(name: string): boolean {
  return /^(href|src|action|formaction|poster|cite|data|xlink:href)$/i.test(name);
}

// Keyed by the array of literal parts, of which the engine keeps one for each place in the code.
const slotsByTemplate = new WeakMap<TemplateStringsArray, readonly Slot[]>();

type State =
  | { at: 'content' }
  | { at: 'tag'; element: string }
  | { at: 'value'; element: string; name: string; quote: string; empty: boolean };

function readSlots(strings: TemplateStringsArray): Slot[] {
  const slots: Slot[] = [];
  let state: State = { at: 'content' };
  strings.forEach((literal, index) => {
    state = advance(state, literal);
    if (index === strings.length - 1) return;
    slots.push(slotAt(state));
    if (state.at === 'value') state.empty = false;
  });
  if (state.at !== 'content') throw new TypeError('a template must close its tags');
  return slots;
}

function slotAt(state: State): Slot {
  if (state.at === 'content') return 'content';
  if (state.at === 'tag') return 'tag';
  if (state.quote === '') throw new TypeError(`quote the attribute ${state.name}`);
  return state.empty && isUrlAttribute(state.name) ? 'url' : 'attribute';
}

function advance(from: State, literal: string): State {
  let state = from;
  let rest = literal;
  while (rest !== '') {
    const [next, length] = read(state, rest);
    state = next;
    rest = rest.slice(length);
  }
  return state;
}

// One step: the next state and how many characters it consumed.
function read(state: State, text: string): [State, number] {
  if (state.at === 'content') return readContent(text);
  return state.at === 'tag' ? readTag(state.element, text) : readValue(state, text);
}

function readContent(text: string): [State, number] {
  const tag = /<(\/?[a-z][a-z0-9-]*|!--)/i.exec(text);
  if (!tag && /<\/?$/.test(text)) throw new TypeError('an element name cannot be a value');
  if (!tag) return [{ at: 'content' }, text.length];
  const element = (tag[1] as string).toLowerCase();
  if (element === '!--') throw new TypeError('no comments in templates');
  if (element === 'style') throw new TypeError('no inline style: put it in a stylesheet');
  return [{ at: 'tag', element }, tag.index + tag[0].length];
}

function readTag(element: string, text: string): [State, number] {
  const token = /^\s*(?:(\/?>)|([^\s=>/"']+)(\s*=\s*(["']?))?)/.exec(text);
  if (!token) {
    if (text.trim() === '') return [{ at: 'tag', element }, text.length];
    throw new TypeError(`cannot read the tag at ${JSON.stringify(text.slice(0, 20))}`);
  }
  const [whole, end, name = '', assignment, quote = ''] = token;
  if (end !== undefined) return endTag(element, text, whole.length);
  if (/^(on|style$|srcdoc$)/i.test(name)) throw new TypeError(`the attribute ${name} is not allowed`);
  if (assignment === undefined) return [{ at: 'tag', element }, whole.length];
  return [{ at: 'value', element, name, quote, empty: true }, whole.length];
}

function endTag(element: string, text: string, length: number): [State, number] {
  if (element === 'script' && !/^<\/script>/i.test(text.slice(length))) {
    throw new TypeError('no inline script: give <script> a src and nothing inside');
  }
  return [{ at: 'content' }, length];
}

function readValue(state: State & { at: 'value' }, text: string): [State, number] {
  if (state.quote === '') {
    const length = /^[^\s>]*/.exec(text)?.[0].length ?? 0;
    return [{ at: 'tag', element: state.element }, length];
  }
  const end = text.indexOf(state.quote);
  if (end === -1) return [{ ...state, empty: false }, text.length];
  return [{ at: 'tag', element: state.element }, end + 1];
}
