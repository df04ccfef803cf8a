import type { Layout } from '@octavo/web/imports';
import { directionOf, folded, isAmountLike, ordersOf } from '@octavo/web/imports';
import { balanceIn } from './balance.ts';
import { type Mapping, type RowField, rowFields } from './reading.ts';

/**
 * Names that banks give to the columns of our fields, the best first, folded, in English, German, French, Spanish, Italian, Portuguese,
 * Dutch, Danish, Swedish, Norwegian, Polish, Czech and Japanese. A name with `*` may go on.
 */
const names: Readonly<Record<RowField | 'payee', string>> = {
  spentOn:
    'spenton completeddate transactiondate dateofoperation date datetime day bookingdate bookedon postingdate posteddate postdate rundate created createdat buchungstag buchungsdatum buchung belegdatum datum transactiedatum boekingsdatum datumverrichting datedoperation dateoperation datedecomptabilisation fecha fechaoperacion fechadeoperacion data dataoperazione datacontabile datamovimento datalancamento bogforingsdato dato bokforingsdag bokforingsdatum transaktionsdag bokfort utfortdato bokforingsdato dataoperacji dataksiegowania datatransakcji datumprovedeni datumtransakce datumzauctovani 取引日 日付 利用日 date* datum* fecha* dato* data*',
  amount:
    'amount transactionamount gross betrag umsatz montant importe importo valor valore quantia montante bedrag belob belopp belop transaktionsbelopp kwota kwotaoperacji kwotatransakcji castka zauctovanacastka objem 金額 sum total value amount* betrag* montant* importe* importo* valor* bedrag* belob* belopp* belop* kwota* castka* net',
  debit:
    'debit debitamount debits moneyout paidout outflow withdrawal withdrawals withdrawalamount spent soll lastschrift belastung ausgang ausgaben debet debito debitos cargo cargos egreso gasto addebiti addebito dare uscite saida saidas af uit uitgaven hæves udbetaling ut utgang uttag ut utbetaling obciazenie obciazenia wydatek wydatki vydaj vydaje odchozi 出金 出金金額 お引出し 支払金額 debit* withdrawal*',
  credit:
    'credit creditamount credits moneyin paidin inflow deposit deposits depositamount received haben gutschrift eingang einnahmen credito creditos abono abonos ingreso ingresos accrediti accredito avere entrate entrada entradas bij inkomsten indbetaling insattning inn innbetaling uznanie uznania wplyw prijem prijmy prichozi 入金 入金金額 お預入れ credit* deposit*',
  direction:
    'direction debitcredit creditdebit creditdebitindicator drcr dk afbij sollhaben sh transactiontype type sens signe signo segno sinal debetcredit tipo typ',
  description:
    'description details name payee counterparty counterpartyname partnername merchant merchantname handelaar narrative text purpose memo note subject transactiondescription beguenstigterzahlungspflichtiger empfanger empfangerauftraggeber auftraggeberempfanger auftraggeberbegunstigter zahlungsempfanger verwendungszweck buchungstext bezeichnung libelle detail detaildelecriture designation description1 concepto descripcion causale descrizione descrizioneoperazione historico descricao naam naamomschrijving naamtegenpartij omschrijving omschrijving1 tekst beskrivelse beskrivning forklaring rubrik opis opisoperacji tytul nadawcaodbiorca zprava zpravaproprijemce popis nazevprotiuctu 摘要 内容 action desc items description* libelle* omschrijving* opis*',
  currency:
    'currency currencycode wahrung devise monnaie monn moneda divisa valuta valutacode moeda munt mena menauctu waluta 通貨',
  category: 'category group kategorie categorie categoria kategori kategoria',
  tags: 'tags labels',
  notes: 'notes note comment comments memo reason verwendungszweck mededelingen vrijemededeling zprava',
  externalId:
    'externalid id transactionid idtransakce fitid reference referencenumber volgnr transactiereferentie ndetransaction',
  account:
    'account accountnumber iban konto kontonummer auftragskonto rekening rekeningnummer compte cuenta conto conta ibanbban',
  payee:
    'payee name merchant counterparty empfanger auftraggeber type action category transactiontype kategorie',
};
const balanceNames = /balance|saldo|solde|残高|zustatek|kontostand|bakiye/;

/** A column by its content. */
interface Content {
  readonly name: string;
  readonly isEmpty: boolean;
  readonly areDays: boolean;
  /** True if half of them are days: rows that are not booked yet have none. */
  readonly areMostlyDays: boolean;
  readonly areAmounts: boolean;
  readonly areDirections: boolean;
  readonly areCodes: boolean;
  readonly hasDecimals: boolean;
  readonly hasMinus: boolean;
  readonly isConstant: boolean;
  readonly letters: number;
}

const most = 0.8;
const sampleRows = 200;

/** The columns of a table, by their names and what is in them. */
export class Columns {
  readonly #layout: Layout;
  readonly #content: readonly Content[];

  /** True if one of the folded names is one of a field. */
  static knows(field: RowField, header: readonly string[]): boolean {
    return names[field].split(' ').some((name) => header.includes(name));
  }

  constructor(layout: Layout) {
    this.#layout = layout;
    const rows = layout.rows.slice(0, sampleRows);
    this.#content = layout.names.map((name, column) =>
      contentOf(
        layout.header === null ? '' : folded(name),
        rows.map((cells) => (cells[column] ?? '').trim()),
      ),
    );
  }

  /** The columns that have one of the names of a field, those of the best name first. */
  named(field: RowField | 'payee'): number[] {
    const wanted = names[field].split(' ');
    const places = wanted.flatMap((name) =>
      this.#content.flatMap((column, place) => {
        const fits = name.endsWith('*') ? column.name.includes(name.slice(0, -1)) : column.name === name;
        return fits && column.name !== '' && mayBe(column, field) ? place : [];
      }),
    );
    return [...new Set(places)];
  }

  /** Those of some columns that a field may be in, by what is in them; of columns that are equal, the first. */
  possible(field: RowField, places: readonly number[]): number[] {
    const rows = this.#layout.rows.slice(0, sampleRows);
    const cellsOf = (place: number) => JSON.stringify(rows.map((cells) => cells[place]?.trim()));
    const possible = places.filter((place) => mayBe(this.#content[place] as Content, field));
    return possible.filter((place, index) =>
      possible.slice(0, index).every((earlier) => cellsOf(earlier) !== cellsOf(place)),
    );
  }

  /** The column whose cells all say debit or credit. */
  direction(): number | undefined {
    const named = this.named('direction').find((place) => this.#content[place]?.areDirections);
    return (
      named ??
      undefinedIf(
        -1,
        this.#content.findIndex((column) => column.areDirections && !column.isConstant),
      )
    );
  }

  /** The columns of a file without a mapping. */
  guess(currency: string): Partial<Record<RowField, number[]>> {
    const found: Partial<Record<RowField, number[]>> = {};
    const take = (field: RowField, place: number | undefined) => {
      if (place !== undefined && place !== -1) found[field] = [place];
    };
    const isTaken = (place: number) => Object.values(found).some((places) => places.includes(place));
    const ofContent = (fits: (column: Content, place: number) => boolean) =>
      this.#content.findIndex((column, place) => !isTaken(place) && fits(column, place));
    take('spentOn', this.named('spentOn')[0] ?? ofContent(({ areDays }) => areDays));
    const money = this.#money(currency);
    for (const [field, place] of Object.entries(money)) take(field as RowField, place);
    take('direction', this.direction());
    for (const field of [
      'description',
      'currency',
      'category',
      'tags',
      'notes',
      'externalId',
      'account',
    ] as const)
      take(
        field,
        this.named(field).find((place) => !isTaken(place)),
      );
    if (!found.description) {
      const texts = this.#content.map((column, place) =>
        isTaken(place) || column.areDays ? 0 : column.letters,
      );
      const longest = Math.max(...texts);
      take('description', longest > 0 ? texts.indexOf(longest) : 0);
    }
    return found;
  }

  #money(currency: string): { amount?: number; debit?: number; credit?: number } {
    const amounts = this.named('amount');
    const [debit] = this.named('debit');
    const [credit] = this.named('credit');
    const isSigned = (place: number) => this.#content[place]?.hasMinus === true;
    const inCurrency = amounts.find((place) => isSigned(place) && this.#isIn(currency, place));
    const amount = inCurrency ?? amounts[0];
    if (debit !== undefined && credit !== undefined && !(amount !== undefined && isSigned(amount)))
      return { debit, credit };
    if (amount !== undefined) return { amount };
    if (debit !== undefined && credit === undefined && !isSigned(debit)) return { debit };
    if (credit !== undefined || debit !== undefined) return { amount: credit ?? debit ?? 0 };
    return this.#moneyByContent(currency);
  }

  #moneyByContent(currency: string): { amount?: number; debit?: number; credit?: number } {
    const candidates = this.#content.flatMap(({ areAmounts, name, isEmpty }, place) =>
      areAmounts && !isEmpty && !balanceNames.test(name) ? place : [],
    );
    const byBalance = balanceIn(this.#layout.rows.slice(0, sampleRows), candidates);
    if (byBalance) return byBalance;
    const worth = (place: number) => {
      const { hasMinus = false, hasDecimals = false, isConstant = false } = this.#content[place] ?? {};
      const isOwn = this.#isIn(currency, place);
      return Number(hasMinus) * 4 + Number(isOwn) * 3 + Number(hasDecimals) * 2 + Number(!isConstant);
    };
    const [amount] = candidates.sort((one, other) => worth(other) - worth(one) || one - other);
    return amount === undefined ? {} : { amount };
  }

  #currencyBehind(place: number): number | undefined {
    return this.#content[place + 1]?.areCodes ? place + 1 : undefined;
  }

  /** True if the column behind names the currency in each row. */
  #isIn(currency: string, place: number): boolean {
    const codes = this.#currencyBehind(place);
    if (codes === undefined) return false;
    return this.#layout.rows.every((cells) => !cells[codes]?.trim() || isCode(cells[codes], currency));
  }
}

const isCode = (text: string, currency: string) =>
  text.trim().toUpperCase() === currency || (text.trim() === 'RUR' && currency === 'RUB');

function mayBe(column: Content, field: RowField | 'payee'): boolean {
  if (field === 'spentOn') return column.areMostlyDays;
  if (field === 'amount' || field === 'debit' || field === 'credit')
    return (column.areAmounts || (column.isEmpty && field !== 'amount')) && !balanceNames.test(column.name);
  if (field === 'direction') return column.areDirections;
  if (field === 'currency') return column.areCodes;
  return field === 'externalId' || field === 'account' || !(column.areDays || column.areAmounts);
}

function contentOf(name: string, cells: readonly string[]): Content {
  const filled = cells.filter((cell) => cell !== '' && folded(cell) !== name);
  const share = (fits: (cell: string) => boolean, least = most) =>
    filled.length > 0 && filled.filter(fits).length >= filled.length * least;
  const isDay = (cell: string) => ordersOf(cell).length > 0;
  const areDays = share(isDay);
  return {
    name,
    isEmpty: filled.length === 0,
    areDays,
    areMostlyDays: share(isDay, 0.5),
    areAmounts: !areDays && share(isAmountLike),
    areDirections: filled.length > 0 && filled.every((cell) => directionOf(cell) !== undefined),
    areCodes: share((cell) => /^[A-Z]{3}$|^\p{Sc}$/u.test(cell)),
    hasDecimals: share((cell) => /\d[.,]\d{1,2}\b/.test(cell)),
    hasMinus: filled.some((cell) => isAmountLike(cell) && /[-\u2212(]/.test(cell)),
    isConstant: new Set(filled).size < 2,
    letters: filled.join('').replace(/[^\p{L}]/gu, '').length,
  };
}

/** The columns that a mapping names, by name or number, and by the first cell of a file without a header. */
export function mappedColumns(
  mapping: Mapping,
  { names: header, header: line, rows }: Layout,
  columns: Columns,
): Partial<Record<RowField, number[]>> | { readonly problem: string } {
  const found: Partial<Record<RowField, number[]>> = {};
  const known = header.map((name) => name.trim());
  const first = (rows[0] ?? []).map((cell) => cell.trim());
  const hasHeader = line !== null;
  for (const field of rowFields) {
    const wanted = mapping[field];
    if (wanted === undefined) continue;
    for (const name of [wanted].flat()) {
      const places = placesOf(name.trim(), {
        names: hasHeader ? known : first,
        hasHeader,
        width: header.length,
      });
      const possible = places.length > 1 && !hasHeader ? columns.possible(field, places) : places;
      // The days of booking and of value are often equal, and the first is that of the booking.
      const isUnclear =
        possible.length > 1 && (hasHeader || !(field === 'spentOn' || field === 'description'));
      if (isUnclear && name.trim() !== '')
        return { problem: `names the column ${name}, which is there twice: name it by its number` };
      const place = possible[0] ?? places[0];
      if (place === undefined) {
        const has = known.join(', ').slice(0, 500);
        return { problem: `names the column ${name}, which the file does not have; it has ${has}` };
      }
      found[field] = [...(found[field] ?? []), place];
    }
  }
  return found;
}

interface Known {
  /** The names of the columns, or the cells of the first row if there are none. */
  readonly names: readonly string[];
  readonly hasHeader: boolean;
  readonly width: number;
}

function placesOf(name: string, { names: known, hasHeader, width }: Known): number[] {
  const number = /^\d+$/.test(name) ? Number(name) : 0;
  const byNumber = number >= 1 && number <= width ? [number - 1] : [];
  if (byNumber.length > 0 && !hasHeader) return byNumber;
  const equal = (fits: (each: string) => boolean) =>
    known.flatMap((each, place) => (fits(each) ? place : []));
  const exact = equal((each) => each === name);
  const found = exact.length > 0 ? exact : equal((each) => name !== '' && folded(each) === folded(name));
  return found.length > 0 ? found : byNumber;
}

function undefinedIf<T>(none: T, value: T): T | undefined {
  return value === none ? undefined : value;
}
