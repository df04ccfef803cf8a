/** What holds for both transports, unless an option says otherwise. */
export const defaults = {
  /** Deadline of a unary call. */
  timeoutMs: 5_000,
  /** How long either side of a stream may wait for the other. */
  streamIdleTimeoutMs: 60_000,
  /** The largest message, either way. 1,000 texts of 10,000 code points fit. */
  messageBytesMax: 64 * 1024 * 1024,
} as const;
