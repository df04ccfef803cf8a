/** Failure of the embedding service, in words that hold no text, address or key. They follow "The embedding service". */
export class EmbeddingFailure extends Error {
  override readonly name = 'EmbeddingFailure';
  /** True if the service does not take these texts; another attempt would not help. */
  readonly isRefusal: boolean;

  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

const refusals = [400, 413, 422];

/** The errors of the library hold the request with all of its texts, so nothing of them is passed on but the status. */
export function failureOf(error: unknown): EmbeddingFailure {
  if (error instanceof EmbeddingFailure) return error;
  const { name, statusCode } = error as { name?: string; statusCode?: number };
  if (name === 'TimeoutError') return new EmbeddingFailure('took too long');
  if (name === 'AbortError' || name === 'AppError') return new EmbeddingFailure('was not waited for');
  if (statusCode === undefined) return new EmbeddingFailure('cannot be reached');
  if (statusCode < 400) return new EmbeddingFailure('gave something else than vectors');
  return new EmbeddingFailure(`answered with status ${statusCode}`, refusals.includes(statusCode));
}
