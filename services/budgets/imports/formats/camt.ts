import { Parser } from 'htmlparser2';
import type { RawRow, RowSource } from './reading.ts';

/** An element's own name, without the prefix of its namespace. */
const localName = (name: string) => name.slice(name.indexOf(':') + 1);

/** Reads CAMT.053 and CAMT.052 of ISO 20022, in any version: an entry is a row. */
export class CamtSource implements RowSource {
  #rows: RawRow[] = [];
  #path: string[] = [];
  #text = '';
  #line = 1;
  #startLine = 1;
  #account = '';
  /** The first text at each path within the entry. */
  #entry: Map<string, string> | undefined;
  readonly #parser = new Parser(
    {
      onopentag: (name, attributes) => this.#open(localName(name), attributes),
      ontext: (text) => {
        this.#text += text;
        this.#line += text.split('\n').length - 1;
      },
      onclosetag: () => this.#close(),
    },
    { xmlMode: true },
  );

  push(text: string): RawRow[] {
    this.#parser.write(text);
    return this.#rows.splice(0);
  }

  end(): RawRow[] {
    this.#parser.end();
    return this.#rows.splice(0);
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#path.push(name);
    this.#text = '';
    if (name === 'Stmt' || name === 'Rpt') this.#account = '';
    if (name === 'Ntry') {
      this.#entry = new Map();
      this.#startLine = this.#line;
    }
    if (attributes.Ccy !== undefined) this.#note('@Ccy', attributes.Ccy);
  }

  #close(): void {
    const name = this.#path.at(-1);
    const text = this.#text.trim();
    if (text !== '') this.#note('', text);
    if (this.#account === '' && /(^|\/)Acct\/Id\/(IBAN|Othr\/Id)$/.test(this.#path.join('/')))
      this.#account = text;
    if (name === 'Ntry' && this.#entry) this.#rows.push(rowOf(this.#startLine, this.#account, this.#entry));
    if (name === 'Ntry') this.#entry = undefined;
    this.#path.pop();
    this.#text = '';
  }

  #note(suffix: string, text: string): void {
    const path = this.#path.slice(this.#path.lastIndexOf('Ntry') + 1).join('/') + suffix;
    const before = this.#entry?.get(path);
    if (before === undefined) this.#entry?.set(path, text);
    else if (path.endsWith('Ustrd')) this.#entry?.set(path, `${before} ${text}`);
  }
}

const transaction = 'NtryDtls/TxDtls';

function rowOf(line: number, account: string, entry: ReadonlyMap<string, string>): RawRow {
  const first = (...paths: string[]) => paths.map((path) => entry.get(path)).find(Boolean) ?? '';
  if (/^(PDNG|INFO|FUTR)$/.test(first('Sts/Cd', 'Sts'))) return { line, skipped: 'not booked yet' };
  const isOut = first('CdtDbtInd') === 'DBIT';
  const party = isOut ? 'Cdtr' : 'Dbtr';
  const payee = first(`${transaction}/RltdPties/${party}/Nm`, `${transaction}/RltdPties/${party}/Pty/Nm`);
  const purpose = first(`${transaction}/RmtInf/Ustrd`, `${transaction}/AddtlTxInf`, 'AddtlNtryInf');
  return {
    line,
    texts: {
      spentOn: first('BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm'),
      amount: first('Amt'),
      direction: first('CdtDbtInd'),
      currency: first('Amt@Ccy'),
      description: (payee || purpose).slice(0, 500),
      notes: payee && purpose !== payee ? purpose : '',
      externalId: first('AcctSvcrRef', `${transaction}/Refs/AcctSvcrRef`, 'NtryRef'),
      account,
      type: first('RvslInd') === 'true' ? 'reversal' : '',
    },
  };
}
