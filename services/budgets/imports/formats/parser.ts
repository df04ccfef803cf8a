import { AppError } from '@octavo/core';
import { CamtSource } from './camt.ts';
import { CsvSource } from './csv.ts';
import { Mt940Source } from './mt940.ts';
import { OfxSource } from './ofx.ts';
import { QifSource } from './qif.ts';
import type { ImportFormat, Reading, RowSource } from './reading.ts';

export function createSource(reading: Reading): RowSource {
  switch (reading.format) {
    case 'csv':
      return new CsvSource(reading);
    case 'ofx':
      return new OfxSource();
    case 'qif':
      return new QifSource();
    case 'camt':
      return new CamtSource();
    case 'mt940':
      return new Mt940Source();
  }
}

const headCharacters = 8_192;

/** The format of a file that begins like this; undefined if it is none that can be read. */
export function kindOf(text: string): ImportFormat | undefined {
  const start = text.trimStart().slice(0, headCharacters);
  if (start === '' || isBinary(start)) return undefined;
  if (/^OFXHEADER\s*:|<\?OFX\s|<OFX>/i.test(start)) return 'ofx';
  if (/<(\w+:)?BkToCstmr(Stmt|AcctRpt)\b/.test(start)) return 'camt';
  if (/^:(20|25|940):/m.test(start) && /^:(25|28C?|60[FM]):/m.test(start)) return 'mt940';
  if (/^!(type|account|option|clear)/i.test(start) || /^D[\d/.' -]+\n[TUPMLNC]/.test(start)) return 'qif';
  // Other kinds of files that are text.
  if (/^[<{[]|^%PDF|^PK[^a-z]/.test(start)) return undefined;
  return 'csv';
}

/** NUL has become U+FFFD. */
function isBinary(text: string): boolean {
  return text.split('\uFFFD').length - 1 > Math.max(1, text.length / 20);
}

/** The error of a file that cannot be read, with words that follow "The file". */
export function unreadable(problem: string, field = 'file'): AppError {
  return new AppError('unprocessable', `The file ${problem}.`, { fields: { [field]: problem } });
}
