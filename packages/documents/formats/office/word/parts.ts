import { encodeXML } from 'entities';
import { replacedBetween } from '../../between.ts';
import { linearMath } from '../../math.ts';
import { readXml } from '../archive.ts';

/** No attribute has this sign, so that a tag without an end costs no more than one that has it. */
const attributes = `(?:"[^"<]*"|'[^'<]*'|[^<>"'])*`;
/** Elements around text that the library reads no further: fields, directions of text, and words with how they are spoken. */
const wrappers = new RegExp(`</?w:(?:fldSimple|bdo|dir|ruby|rubyBase)\\b${attributes}>|</?m:oMathPara>`, 'g');

/** The XML of a part in elements that the library reads, with equations as text. */
export function simplified(xml: string): string {
  const unspoken = replacedBetween(xml, ['<w:rt>', '</w:rt>'], () => '');
  const bare = replacedBetween(unspoken, ['<w:rubyPr>', '</w:rubyPr>'], () => '');
  const read = bare
    .replace(wrappers, '')
    .replaceAll('<w:cr/>', '<w:br/>')
    .replace(/<w:dstrike\b/g, '<w:strike');
  return replacedBetween(
    read,
    ['<m:oMath>', '</m:oMath>'],
    (math) => `<w:r><w:t xml:space="preserve">${encodeXML(linearMath(math))}</w:t></w:r>`,
  );
}

/** The paragraphs of headers and footers, each once. */
export function runningTexts(parts: readonly string[]): string[] {
  const texts = new Set<string>();
  for (const part of parts) {
    let [text, isInside] = ['', false];
    readXml(part, {
      open(name) {
        isInside = name === 'w:t';
        if (name === 'w:tab' || name === 'w:br') text += ' ';
      },
      text(piece) {
        if (isInside) text += piece;
      },
      close(name) {
        isInside = false;
        if (name !== 'w:p') return;
        if (/\p{L}{2}/u.test(text)) texts.add(text.replace(/\s+/g, ' ').trim());
        text = '';
      },
    });
  }
  return [...texts];
}
