import { Type } from '#kit/schema.ts';
import type { ApiParts } from './api.ts';
import { pageRoutes, routes } from './routes.ts';

const url = Type.String({ examples: ['https://sign-in.example.com/'] });

/** What browsers and password managers look for by themselves. */
export function addWellKnown({ app, party, site }: ApiParts): void {
  app.get(
    routes.relatedOrigins,
    {
      access: 'public',
      schema: {
        response: { 200: Type.Object({ origins: Type.Array(url) }) },
        tags: ['passkeys'],
        summary: 'Origins whose pages may use passkeys of this domain (WebAuthn Level 3, 5.11)',
      },
    },
    (_request, reply) => {
      reply.send({ origins: party().origins.filter((origin) => /^https?:/.test(origin)) });
    },
  );
  app.get(
    routes.passkeyEndpoints,
    {
      access: 'public',
      schema: {
        response: { 200: Type.Object({ enroll: url, manage: url }) },
        tags: ['passkeys'],
        summary:
          'Where passkeys are added and managed (W3C, A Well-Known URL for Relying Party Passkey Endpoints)',
      },
    },
    (_request, reply) => {
      const account = new URL(pageRoutes.home, site.origin).href;
      reply.send({ enroll: account, manage: account });
    },
  );
}
