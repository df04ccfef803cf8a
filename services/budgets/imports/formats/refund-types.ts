import { folded } from '@octavo/web/imports';

/**
 * Names of columns with the type of a row, folded, in the languages of the other columns. A type is a word of the bank, unlike a description,
 * which may speak of a refund that was asked for.
 */
const typeColumns = new Set(
  'type transactiontype typ transaktionstyp umsatzart vorgangsart buchungstext art buchungsart typedoperation typeoperation nature tipo tipodeoperacion tipooperazione tipodeoperacao tipotransacao causale mutatiesoort soort transactietype transaktionstype rodzaj rodzajtransakcji typtransakci typtransakce typpohybu 種別 取引種別'.split(
    ' ',
  ),
);

/** Words of types that say that money came back, in the same languages. POS is a purchase by card in OFX: money in is its refund. */
const refundWords =
  /refund|reversal|chargeback|erstattung|storno|ruckzahlung|retoure|remboursement|annulation|extourne|avoir|reembolso|devolucion|anulacion|rimborso|restituzione|estorno|devolucao|terugbetaling|terugboeking|retour|refusion|tilbagebetaling|tilbageforsel|aterbetalning|aterforing|refusjon|tilbakebetaling|tilbakeforing|zwrot|vraceni|vratka|返金|払戻|^repos$|^pos$/;

export function isTypeColumn(name: string): boolean {
  return typeColumns.has(folded(name));
}

/** True if the type of a row says that it is a refund. */
export function isRefundType(type = ''): boolean {
  return type !== '' && refundWords.test(folded(type));
}
