import type { PlacedItem } from './items.ts';

/** A field of a form, or a text that was put on a page, as the library tells it. */
export interface Annotation {
  readonly subtype?: string;
  readonly fieldType?: string;
  readonly fieldValue?: unknown;
  readonly exportValue?: string;
  readonly buttonValue?: string;
  readonly annotationFlags?: number;
  readonly rect?: readonly number[];
  readonly contentsObj?: { readonly str?: string };
  readonly password?: boolean;
  /** False for a list that shows several of its options. */
  readonly combo?: boolean;
  readonly options?: readonly { readonly exportValue?: string; readonly displayValue?: string }[];
}

const hiddenFlags = 0x02 | 0x20;
const letterHeight = 10;

/** The items of a page with the values of its form beside what stands before them. */
export function withFields(items: readonly PlacedItem[], annotations: readonly Annotation[]): PlacedItem[] {
  const all = [...items];
  for (const annotation of annotations) {
    const text = shownValue(annotation);
    if (text === '' || ((annotation.annotationFlags ?? 0) & hiddenFlags) !== 0) continue;
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = annotation.rect ?? [];
    const [left, right] = [Math.min(x1, x2), Math.max(x1, x2)];
    const height = Math.min(letterHeight, Math.abs(y2 - y1) || letterHeight);
    // Text of one line stands in the middle of its field, that of more at the top.
    const y = Math.abs(y2 - y1) > letterHeight * 3 ? Math.max(y1, y2) - height : (y1 + y2) / 2 - height / 3;
    const field = {
      text,
      turn: 0,
      left,
      right,
      y,
      height,
      endsLine: false,
      isRightToLeft: false,
      font: 'field',
    };
    const at = placeOf(field, all);
    all.splice(at, 0, field);
  }
  return all;
}

function shownValue(annotation: Annotation): string {
  const { subtype, fieldType, fieldValue, exportValue, buttonValue, contentsObj, password } = annotation;
  if (subtype === 'FreeText') return contentsObj?.str?.trim() ?? '';
  if (subtype !== 'Widget' || password) return '';
  if (fieldType === 'Btn') {
    const on = exportValue ?? buttonValue;
    return on !== undefined && on !== 'Off' && fieldValue === on ? '[x]' : '';
  }
  const values = [fieldValue].flat().filter((value) => typeof value === 'string');
  return (fieldType === 'Ch' ? shownOptions(annotation, values) : values).join(', ').trim();
}

/** The options of a list that fit into it, with those that are chosen marked; of a closed list the chosen one. */
function shownOptions(
  { options = [], combo = true, rect = [] }: Annotation,
  chosen: readonly string[],
): string[] {
  const isChosen = ({ exportValue = '', displayValue = '' }: (typeof options)[number]) =>
    chosen.includes(exportValue) || chosen.includes(displayValue);
  const nameOf = ({ exportValue = '', displayValue = exportValue }: (typeof options)[number]) => displayValue;
  if (combo) {
    const names = options.filter(isChosen).map(nameOf);
    // A value may have been typed in place of an option.
    return names.length > 0 ? names : [...chosen];
  }
  const fitting = Math.floor(Math.abs((rect[3] ?? 0) - (rect[1] ?? 0)) / letterHeight);
  return options.flatMap((option, index) => {
    if (isChosen(option)) return [`[x] ${nameOf(option)}`];
    return index < fitting ? [nameOf(option)] : [];
  });
}

/** The place among the items: after those on its line to the left, else after the one that is the nearest above. */
function placeOf(field: PlacedItem, items: readonly PlacedItem[]): number {
  let [at, best] = [items.length, Number.POSITIVE_INFINITY];
  for (const [index, item] of items.entries()) {
    if (item.text.trim() === '' || item.turn !== 0) continue;
    const isBeside = Math.abs(item.y - field.y) <= field.height && item.left <= field.left;
    const above = item.y - field.y;
    const distance = isBeside
      ? (field.left - item.left) / 1_000
      : above > 0
        ? above + 1
        : Number.POSITIVE_INFINITY;
    if (distance > best) continue;
    [at, best] = [index + 1, distance];
  }
  return at;
}
