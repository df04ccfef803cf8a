/** Why a response was not taken: for the log, not for who sent it. */
export class Unverified extends Error {
  readonly isClone: boolean;

  constructor(message: string, options: { isClone?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.isClone = options.isClone ?? false;
  }
}

export type ClientData = Readonly<Record<string, unknown>>;

export function clientDataOf(bytes: Buffer): ClientData {
  try {
    return Object(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new Unverified('clientDataJSON is no JSON', { cause });
  }
}

/** A page of another site may hold ours in a frame; the library lets that pass where the browser does not say which one. */
export function checkFrame({ crossOrigin = false, topOrigin }: ClientData): void {
  if (crossOrigin !== false || topOrigin !== undefined) throw new Unverified('the ceremony ran in a frame');
}
