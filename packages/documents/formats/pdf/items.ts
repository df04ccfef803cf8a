/** A piece of text of a page, as the library gives it. */
export interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
  readonly dir?: string;
  readonly fontName?: string;
}

/** A piece of text along the line that it stands on, whatever way the page is turned. */
export interface PlacedItem {
  readonly text: string;
  /** Quarters of a turn. */
  readonly turn: number;
  readonly left: number;
  readonly right: number;
  /** Height of the line above the bottom of the page. */
  readonly y: number;
  readonly height: number;
  readonly endsLine: boolean;
  readonly isRightToLeft: boolean;
  readonly font: string;
}

export function placed({ str, transform, width, height, hasEOL, dir, fontName = '' }: TextItem): PlacedItem {
  const [a = 1, b = 0, , , e = 0, f = 0] = transform;
  const turn = (Math.round(Math.atan2(b, a) / (Math.PI / 2)) + 4) % 4;
  const [left, y] = [
    [e, f],
    [f, -e],
    [-e, -f],
    [-f, e],
  ][turn] as [number, number];
  return {
    text: str,
    turn,
    left,
    right: left + width,
    y,
    height,
    endsLine: hasEOL,
    isRightToLeft: dir === 'rtl',
    font: fontName,
  };
}
