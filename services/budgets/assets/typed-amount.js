/**
 * True for what may be an amount: numbers with signs of operations, units and separators. The server has the whole rule; without a network
 * this keeps words such as `abc` from being kept as an amount. An empty text is none of its business.
 * @param {string} text
 */
export function isAmount(text) {
  const words = text.trim();
  return (
    words === '' ||
    (/\d/.test(words) && /^[\d\s\p{L}\p{Sc}\p{Pd}.,'’()+*/−×·⋅∙÷∕⁄\u061C\u200E\u200F]*$/u.test(words))
  );
}
