/** Values as people write them: amounts of money and currencies. */
export { currencyCodes, currencyOf, digitsOf, isCurrency } from './values/currencies.ts';
export {
  convert,
  type DecimalInput,
  decimalText,
  divideHalfEven,
  minorMax,
  type ParsedMoney,
  parseDecimal,
  parseMoney,
  toExact,
  toMajor,
  toMinor,
} from './values/money.ts';
export {
  amountRule,
  compactText,
  type DecimalSign,
  decimalSignIn,
  isUnitOf,
  type ReadAmount,
  type Reading,
  readAmount,
  readNumber,
} from './values/written-amount.ts';
