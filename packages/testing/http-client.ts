/** The response to a request of a test. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body, parsed when it is read; undefined if it is empty or not of a JSON type. */
  // biome-ignore lint/suspicious/noExplicitAny: a test inspects any response
  readonly json: any;
}

export interface TestRequest {
  /** `GET` by default, `POST` with a body. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Forms are sent unchanged, texts and bytes too but as JSON unless the headers say otherwise, and anything else as its JSON. */
  readonly body?: unknown;
}

/** Sends a request as a client that follows no redirects. */
export async function sendRequest(url: string, request: TestRequest = {}): Promise<TestResponse> {
  const { body, method = body === undefined ? 'GET' : 'POST', headers } = request;
  const isForm = body instanceof URLSearchParams || body instanceof FormData;
  const isRaw = isForm || typeof body === 'string' || body instanceof Uint8Array || body === undefined;
  const type = body === undefined || isForm ? undefined : { 'content-type': 'application/json' };
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...type, ...headers },
    body: (isRaw ? body : JSON.stringify(body)) as RequestInit['body'],
  });
  const text = await response.text();
  const isJson = text !== '' && /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return isJson ? JSON.parse(text) : undefined;
    },
  };
}

/** The `Authorization` header of a token, if there is one. */
export function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
