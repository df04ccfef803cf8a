import { AppError } from '#kit/errors.ts';
import { formProblem } from '#kit/html/form-problem.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import type { Caller } from '../caller.ts';
import { passkeyErrors, registrationOf } from '../passkeys/index.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../session.ts';
import { passkeyPage, passkeyRemovalPage } from '../views/passkeys.ts';
import { json, readRegistered, sendJson } from './answers.ts';
import type { PageParts } from './parts.ts';
import { frameOf, readerOf, senderOf, signedIn } from './reader.ts';

/** Adding, naming and removing passkeys. */
export function addPasskeyPages(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  addCeremony(routes, parts);
  addNaming(routes, parts);
  addRemoval(routes, parts);
}

function addCeremony(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { passkeys, sessions, limits } = parts;
  const reading = async (visit: Parameters<typeof readerOf>[0]): Promise<Caller> => {
    const reader = await readerOf(visit, parts);
    if (reader) return reader;
    throw new AppError('unauthenticated', 'Your session has ended. Sign in again.');
  };
  routes.get(pageRoutes.addPasskey, async (visit) => visit.redirect(pageRoutes.home));
  routes.post(
    pageRoutes.addPasskeyOptions,
    async (visit) => {
      const caller = await reading(visit);
      await limits.enroll(visit.request, visit.reply);
      const { email } = caller.user;
      return sendJson(visit, await passkeys.begin({ email, caller, ...senderOf(visit, parts) }));
    },
    json,
  );
  routes.post(
    pageRoutes.addPasskey,
    async (visit) => {
      await reading(visit);
      await limits.verify(visit.request, visit.reply);
      const answer = readRegistered(visit);
      const { pending_id: pendingId, name } = answer;
      const answered = { pendingId, name, response: registrationOf(answer), ...senderOf(visit, parts) };
      const { tokens, passkey } = await passkeys.complete(answered);
      // Whoever adds a passkey here is signed in already.
      await sessions.revoke(tokens.refresh_token);
      visit.leaveFlash({ tone: 'good', text: `The passkey “${passkey.name}” is added.` });
      return sendJson(visit, { location: pageRoutes.home });
    },
    json,
  );
}

function addNaming(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { passkeys } = parts;
  routes.get(
    pageRoutes.editPasskey,
    signedIn(parts, async (visit, reader) =>
      passkeyPage(frameOf(visit, parts, reader), { passkey: await ownPasskey(parts, reader, idIn(visit)) }),
    ),
  );
  routes.post(
    pageRoutes.editPasskey,
    signedIn(parts, async (visit, reader) => {
      const [id, name] = [visit.field('id'), visit.field('name')];
      const passkey = await ownPasskey(parts, reader, id);
      try {
        await passkeys.rename(reader, id, name);
      } catch (error) {
        const { fields } = error as AppError;
        const { status, problem } = formProblem(error, {});
        visit.reply.code(status);
        return passkeyPage(frameOf(visit, parts, reader), {
          passkey,
          name,
          errors: fields ?? {},
          problem: fields?.name ? undefined : problem,
        });
      }
      return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The passkey has its new name.' });
    }),
  );
}

function addRemoval(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { passkeys } = parts;
  routes.get(
    pageRoutes.removePasskey,
    signedIn(parts, async (visit, reader) =>
      passkeyRemovalPage(frameOf(visit, parts, reader), await ownPasskey(parts, reader, idIn(visit))),
    ),
  );
  routes.post(
    pageRoutes.removePasskey,
    signedIn(parts, async (visit, reader) => {
      const id = visit.field('id');
      const passkey = await ownPasskey(parts, reader, id);
      try {
        await passkeys.remove(reader, id, senderOf(visit, parts));
      } catch (error) {
        const { status, problem } = formProblem(error, {});
        visit.reply.code(status);
        return passkeyRemovalPage(frameOf(visit, parts, reader), passkey, problem);
      }
      return visit.redirect(pageRoutes.home, {
        tone: 'good',
        text: `The passkey “${passkey.name}” is removed.`,
      });
    }),
  );
}

function idIn({ request }: { request: { query: unknown } }): string {
  const { id } = request.query as { id?: unknown };
  return typeof id === 'string' ? id : '';
}

async function ownPasskey({ passkeys }: PageParts, reader: Caller, id: string) {
  const passkey = (await passkeys.of(reader)).find((each) => each.id === id);
  if (!passkey) throw passkeyErrors.notFound();
  return passkey;
}
