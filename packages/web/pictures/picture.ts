/** A picture that is made of rectangles and texts, in the order in which they are painted. Lengths are in pixels from the top left. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly parts: readonly (Box | TextBox)[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Color such as `#4453d4`. */
  readonly color: string;
}

/** A text that is broken into lines and set as large as its box allows. */
export interface TextBox extends Box {
  /** The first of these texts that the font has all letters of is set; none if it has not. Emoji and other symbols that it lacks are left out. */
  readonly texts: readonly string[];
  readonly font: FontName;
  /** Sizes to try, the largest first. If not even the last one fits, the text is cut. */
  readonly sizes: readonly number[];
  /** Number of lines at most, by default as many as fit. */
  readonly linesMax?: number;
  readonly align?: 'left' | 'right';
  readonly place?: 'top' | 'middle' | 'bottom';
}

export type FontName = 'sans' | 'serif';

/** Size of a picture for links that are shared (https://ogp.me): 1200 by 630 pixels. */
export const sharedSize = { width: 1_200, height: 630 } as const;

/** Colors of pictures, those of the light theme. */
export const ink = { accent: '#4453d4', text: '#1b1c26', muted: '#5c5f70', ground: '#ffffff' } as const;
