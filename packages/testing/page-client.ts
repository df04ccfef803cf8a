export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  /** HTML without a byte order mark. */
  readonly html: string;
  readonly hasMark: boolean;
  /** Target of a redirect; empty if there is none. */
  readonly location: string;
}

/** A minimal browser for pages without scripts: it keeps cookies, and the form token of the last page. */
export class PageClient {
  readonly cookies = new Map<string, string>();
  /** The form token of the last page. */
  token = '';
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Loads a page. It does not follow redirects. */
  async open(path: string, init: RequestInit = {}): Promise<PageResponse> {
    const headers = {
      accept: 'text/html',
      'sec-fetch-site': 'same-origin',
      cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...init.headers,
    };
    const response = await fetch(new URL(path, this.#url), { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
    const html = text.replace(/^\uFEFF/, '');
    this.token = /name="_csrf" value="([^"]+)"/.exec(html)?.[1] ?? this.token;
    const { status, headers: given } = response;
    return { status, headers: given, html, hasMark: text !== html, location: given.get('location') ?? '' };
  }

  /** Sends a form as the last page would. A field with several values is repeated. */
  send(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>>,
    headers: Record<string, string> = {},
  ): Promise<PageResponse> {
    const entries = Object.entries({ _csrf: this.token, ...fields });
    const pairs = entries.flatMap(([name, given]) => [given].flat().map((value) => [name, value]));
    return this.open(path, { method: 'POST', body: new URLSearchParams(pairs), headers });
  }

  /** Sends a file in a multipart form, after its other fields. */
  upload(
    path: string,
    file: { name: string; content: string | Uint8Array<ArrayBuffer> },
    fields: Readonly<Record<string, string>> = {},
  ): Promise<PageResponse> {
    const body = new FormData();
    for (const [name, value] of Object.entries({ _csrf: this.token, ...fields })) body.append(name, value);
    body.append('file', new Blob([file.content]), file.name);
    return this.open(path, { method: 'POST', body });
  }

  #keep(setCookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(setCookie) ?? [];
    if (/Max-Age=0\b/.test(setCookie)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
