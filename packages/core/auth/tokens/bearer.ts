const bearer = /^bearer ([\x21-\x7e]+)$/i;

/** The token of an `Authorization: Bearer` header (RFC 6750 section 2.1; the scheme in any case); undefined if there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return bearer.exec(authorization ?? '')?.[1];
}
