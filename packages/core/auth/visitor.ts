/** Origin of a request, as a user's list of sessions shows it. */
export interface Visitor {
  /** The IP address of the client. */
  readonly address: string;
  /** The `User-Agent` header, at most 160 characters. */
  readonly userAgent: string;
}
