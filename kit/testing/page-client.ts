export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
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
    const html = await response.text();
    this.token = /name="_csrf" value="([^"]+)"/.exec(html)?.[1] ?? this.token;
    return { status: response.status, headers: response.headers, html };
  }

  /** Sends a form as the last page would. */
  send(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<PageResponse> {
    return this.open(path, {
      method: 'POST',
      body: new URLSearchParams({ _csrf: this.token, ...fields }),
      headers,
    });
  }

  /** Sends a file in a multipart form. */
  upload(
    path: string,
    file: { name: string; content: string | Uint8Array<ArrayBuffer> },
  ): Promise<PageResponse> {
    const body = new FormData();
    body.append('_csrf', this.token);
    body.append('file', new Blob([file.content]), file.name);
    return this.open(path, { method: 'POST', body });
  }

  #keep(setCookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(setCookie) ?? [];
    if (/Max-Age=0\b/.test(setCookie)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
