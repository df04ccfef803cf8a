import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Encryption } from '@octavo/core/auth';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';

const parameter = 'form';
const openMs = 60_000;
/** Bytes that fit into an address beside the cookies. */
const formBytesMax = 4_000;

/**
 * Requests of browsers by `POST` (OpenID Connect Core 1.0 section 3.1.2.1, RP-Initiated Logout 1.0 section 2). Browsers send no cookies
 * with a form of another site, so it becomes a request by `GET`, with the form encrypted: an ID token is in no history and no log.
 */
export class SentForms {
  readonly #encryption: Encryption;
  readonly #clock: Clock;

  constructor(encryption: Encryption, clock: Clock) {
    this.#encryption = encryption;
    this.#clock = clock;
  }

  /** Adds a parser for forms. */
  take(app: HttpApp): void {
    const options = { parseAs: 'string', bodyLimit: formBytesMax } as const;
    app.addContentTypeParser('application/x-www-form-urlencoded', options, (_request, body, done) =>
      done(null, body),
    );
  }

  lead(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = pathOf(request);
    const content = JSON.stringify({ form: request.body ?? '', untilMs: this.#clock.now() + openMs });
    const sealed = this.#encryption.encrypt(content, `oidc form ${path}`);
    return reply.code(303).header('location', `${path}?${parameter}=${sealed}`).send();
  }

  /** Puts the form into the request that it became. Throws `invalid_input` for one that is not ours or too old. */
  open(request: FastifyRequest): void {
    const { [parameter]: sealed } = request.query as Record<string, unknown>;
    if (typeof sealed !== 'string') return;
    const path = pathOf(request);
    const content = this.#encryption.decryptText(sealed, `oidc form ${path}`);
    const { form = '', untilMs = 0 } = content === undefined ? {} : JSON.parse(content);
    if (untilMs <= this.#clock.now()) {
      const text = 'This request has expired. Go back to the application and start again.';
      throw new AppError('invalid_input', text);
    }
    request.raw.url = `${path}?${form}`;
  }
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] as string;
}
