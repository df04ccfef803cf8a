/** A text with each part from one sign to the next other one changed. It takes one pass, which a regular expression may not. */
export function replacedBetween(
  text: string,
  [open, close]: readonly [open: string, close: string],
  change: (part: string) => string,
): string {
  let [result, from] = ['', 0];
  for (let start = text.indexOf(open); start !== -1; start = text.indexOf(open, from)) {
    const end = text.indexOf(close, start + open.length);
    if (end === -1) break;
    result += text.slice(from, start) + change(text.slice(start, end + close.length));
    from = end + close.length;
  }
  return result + text.slice(from);
}
