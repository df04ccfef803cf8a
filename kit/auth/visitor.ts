/** Where a request came from, as a list of sessions shows it to their owner. */
export interface Visitor {
  /** The address of the client. */
  readonly address: string;
  /** What its program calls itself, at most 160 characters. */
  readonly userAgent: string;
}
