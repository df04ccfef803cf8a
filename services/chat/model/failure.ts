/** The cause of a failure, as far as its server tells. */
export type FailureCause = 'key' | 'model' | 'address' | 'context' | 'busy' | 'silence' | 'other';

/** Words for administrators. */
export const causes: Readonly<Record<FailureCause, string>> = {
  key: 'The model’s server refuses the key: check it on the settings page, or LLM_API_KEY.',
  model: 'The model’s server does not know the model: choose one on the settings page, or check LLM_MODEL.',
  address: 'No model answers at this address: check it on the settings page, or LLM_BASE_URL.',
  context: 'The context of the model is full: set LLM_CONTEXT_TOKENS to what its server allows.',
  busy: 'The model’s server is busy.',
  silence: 'The model was silent for too long.',
  other: 'The model failed.',
};

/** A model gave no answer, or none that can be used. */
export class NoModelAnswer extends Error {
  override readonly name = 'NoModelAnswer';
  readonly reason: FailureCause;

  constructor(reason: FailureCause, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Words of servers for a prompt that is too long: OpenAI, vLLM, llama.cpp, LM Studio and Ollama. */
const fullContext =
  /context_length_exceeded|exceed_context_size|maximum context length|(?:exceeds?|greater than|overflows?)[^.]{0,40}\bcontext\b|context (?:length|size|window)[^.]{0,40}(?:exceed|overflow|too (?:small|long))/i;
const unknownModel =
  /model_not_found|NotFoundError|model\b.{0,200}\b(?:not found|does not exist|not exist|not loaded)|no models? (?:is )?loaded|invalid model/i;
const refusedKey = /invalid_api_key|incorrect api key|invalid api key|unauthorized/i;

/** The cause of an error that a library threw for a model. */
export function causeOf(error: unknown): FailureCause {
  const { name, reason, statusCode: status, cause } = (error ?? {}) as FailedCall;
  if (reason !== undefined) return reason;
  if (name === 'TimeoutError') return 'silence';
  const said = textOf(error);
  if (fullContext.test(said)) return 'context';
  if (status === 401 || status === 403 || refusedKey.test(said)) return 'key';
  if (unknownModel.test(said)) return 'model';
  if (status === 429) return 'busy';
  if (status === 404 || status === 405) return 'address';
  if (cause !== undefined && status === undefined) return causeOfConnection(cause);
  return 'other';
}

interface FailedCall {
  readonly name?: string;
  readonly reason?: FailureCause;
  readonly statusCode?: number;
  readonly responseBody?: string;
  readonly message?: string;
  readonly cause?: unknown;
}

function causeOfConnection(cause: unknown): FailureCause {
  const { reason, code, cause: inner } = cause as FailedCall & { readonly code?: string };
  if (reason !== undefined) return reason;
  if (/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|ECONNRESET)$/.test(code ?? ''))
    return 'address';
  return inner === undefined ? 'other' : causeOfConnection(inner);
}

/** The text that a server gave for an error, to be matched and never shown. */
function textOf(error: unknown): string {
  if (typeof error === 'string') return error.slice(0, 4_000);
  const { responseBody = '', message = '' } = (error ?? {}) as FailedCall;
  return `${responseBody} ${message}`.slice(0, 4_000);
}

/** The size of the context that a server names in its refusal; undefined if it names none. */
export function contextNamed(error: unknown): number | undefined {
  const said = textOf(error);
  const named = /"n_ctx":\s*(\d+)|context (?:length|size)[^\d]{0,20}(\d+)/.exec(said);
  const tokens = Number(named?.[1] ?? named?.[2]);
  return tokens >= 256 ? tokens : undefined;
}
