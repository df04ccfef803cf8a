import { Parser } from 'htmlparser2';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (Element | string)[];
}

const depthMax = 100;

/** Parts of an equation of Word that say how it looks. */
const unread = /^(?:annotation|annotation-xml|rPr|.+Pr)$/;

/** An equation of Word or of MathML as text on one line: `(a+b)/2`, `x^2`, `√(y)`. */
export function linearMath(xml: string): string {
  const root: Element = { name: '', attributes: {}, children: [] };
  const open = [root];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element = { name: name.replace(/^.*:/, ''), attributes, children: [] };
        if (open.length < depthMax) open.at(-1)?.children.push(element);
        open.push(element);
      },
      ontext: (text) => open.at(-1)?.children.push(text),
      onclosetag() {
        if (open.length > 1) open.pop();
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return textOf(root).replace(/\s+/g, ' ').trim();
}

function textOf(part: Element | string | undefined): string {
  if (part === undefined || typeof part === 'string') return part ?? '';
  const { name, children } = part;
  const elements = children.filter(
    (child) => typeof child !== 'string' && !unread.test(child.name),
  ) as Element[];
  const [first, second, third] = elements;
  const named = (of: string) => elements.find((child) => child.name === of);
  const below = (of: Element | undefined) => (textOf(of).trim() === '' ? '' : `_${grouped(of)}`);
  const above = (of: Element | undefined) => (textOf(of).trim() === '' ? '' : `^${grouped(of)}`);
  switch (name) {
    case 'f':
    case 'mfrac':
      return `${grouped(first)}/${grouped(second)}`;
    case 'sSup':
    case 'msup':
    case 'mover':
      return `${grouped(first)}${above(second)}`;
    case 'sSub':
    case 'msub':
    case 'munder':
      return `${grouped(first)}${below(second)}`;
    case 'sSubSup':
    case 'msubsup':
    case 'munderover':
      return `${grouped(first)}${below(second)}${above(third)}`;
    case 'rad':
      return `√(${textOf(named('e'))})`;
    case 'msqrt':
      return `√(${elements.map(textOf).join('')})`;
    case 'd':
      return `(${elements.map(textOf).join(', ')})`;
    case 'nary':
      return `${signOf(part)}${below(named('sub'))}${above(named('sup'))} ${textOf(named('e'))}`;
    default:
      return unread.test(name) ? '' : children.map(textOf).join('');
  }
}

/** The sign of a sum or an integral. */
function signOf({ children }: Element): string {
  const all = children.flatMap((child) => (typeof child === 'string' ? [] : [child, ...child.children]));
  const sign = all.find((child) => typeof child !== 'string' && child.name === 'chr') as Element | undefined;
  return sign?.attributes['m:val'] ?? '∫';
}

/** A part in brackets, unless it is one number or name. */
function grouped(part: Element | undefined): string {
  const text = textOf(part).trim();
  return /^(?:[\p{L}\p{N}.,]+|\(.*\))$/u.test(text) ? text : `(${text})`;
}
