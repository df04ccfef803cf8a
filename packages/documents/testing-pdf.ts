import type { PlacedItem } from './formats/pdf/items.ts';

/** A text of a line on a page, with letters 5 units wide and 10 high, from its left end on. */
export function placedItem(text: string, left: number, y: number, font = 'plain'): PlacedItem {
  return {
    text,
    turn: 0,
    left,
    right: left + text.length * 5,
    y,
    height: 10,
    endsLine: true,
    isRightToLeft: false,
    font,
  };
}

/** A PDF for tests, with the lines of each page in Helvetica. They must have no parentheses. */
export function pdfOf(pages: readonly string[]): Uint8Array<ArrayBuffer> {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  for (const [index, page] of pages.entries()) {
    const lines = page.split('\n').map((line) => `(${line}) Tj T*`);
    const content = `BT /F1 12 Tf 16 TL 72 720 Td ${lines.join(' ')} ET`;
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + index * 2} 0 R>>`,
      `<</Length ${content.length}>>stream\n${content}\nendstream`,
    );
  }
  return pdfFrom(objects);
}

/** A PDF of numbered objects, the first of which is its catalog. */
export function pdfFrom(objects: readonly string[]): Uint8Array<ArrayBuffer> {
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj${object}endobj\n`;
    return offset;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  text += offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `trailer<</Size ${objects.length + 1}/Root 1 0 R>>startxref\n${start}\n%%EOF`;
  return new Uint8Array(Buffer.from(text, 'latin1'));
}
