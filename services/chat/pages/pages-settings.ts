import { AppError, toAppError } from '@octavo/core';
import type { Visit } from '@octavo/web/pages';
import {
  type FoundServer,
  findServers,
  isModelName,
  keyMax,
  listModels,
  modelKind,
  ServerProblem,
  toAddress,
  tryModel,
} from '../connection/index.ts';
import { errorTable } from '../errors.ts';
import { pageRoutes } from '../routes.ts';
import {
  framed,
  mayConnect,
  type PageParts,
  type Routes,
  type Visitor,
  visitorsOf,
} from './pages-visitor.ts';
import { type SettingsView, settingsPage } from './views-settings.ts';

type Attempt = Pick<SettingsView, 'server' | 'servers' | 'trial' | 'problem' | 'address'>;

/** Adds the page where administrators connect a model. */
export function addSettings(routes: Routes, parts: PageParts): void {
  const visitor = visitorsOf(parts);
  const access = async (visit: Visit<never>) => {
    const found = await visitor(visit);
    if (await mayConnect(parts, visit)) return found;
    throw new AppError(
      'forbidden',
      parts.gate.hasSignIn
        ? 'Only administrators connect models.'
        : 'Nobody can sign in here, so models are connected from this machine only. Open the page at localhost.',
    );
  };
  routes.get(pageRoutes.settings, { access }, (found) => showSettings(parts, found, {}));
  routes.post(pageRoutes.settings, { access }, (found) => changeSettings(parts, found));
}

async function showSettings(parts: PageParts, visitor: Visitor, attempt: Attempt): Promise<string> {
  const { models, connections, embeddings } = parts;
  const model = await models.current();
  const stored = models.isSet ? undefined : await connections.find(modelKind);
  return settingsPage(await framed(parts, visitor), {
    isSet: models.isSet,
    model,
    stored,
    keepProblem: connections.problem,
    canFind: canFind(parts),
    embeddingModel: embeddings?.client.source.model,
    ...attempt,
  });
}

/** Servers of this machine are looked for where it is somebody's own. */
function canFind({ environment }: PageParts): boolean {
  return environment !== 'production';
}

async function changeSettings(parts: PageParts, visitor: Visitor) {
  const { models, connections } = parts;
  const { visit } = visitor;
  if (models.isSet)
    throw new AppError('conflict', 'LLM_BASE_URL of the environment decides which model is used.');
  const address = visit.field('address');
  try {
    switch (visit.field('deed')) {
      case 'find':
        if (!canFind(parts)) throw new AppError('forbidden', 'Servers are not looked for in production.');
        return showSettings(parts, visitor, { servers: await findServers() });
      case 'remove':
        await connections.remove(modelKind);
        return visit.redirect(pageRoutes.settings, { tone: 'good', text: 'The model is disconnected.' });
      case 'list':
        return showSettings(parts, visitor, { server: await serverIn(parts, visit) });
      default:
        return await useModel(parts, visitor);
    }
  } catch (thrown) {
    const attempt = { address, problem: problemOf(visit, thrown) };
    return showSettings(parts, visitor, attempt);
  }
}

/** Sets the status of the response. Throws what is no problem of the form. */
function problemOf(visit: Visit<never>, thrown: unknown): string {
  if (thrown instanceof ServerProblem) {
    visit.reply.code(502);
    return thrown.message;
  }
  const error = toAppError(thrown);
  if (error.code !== 'validation_failed' && error.code !== 'conflict') throw thrown;
  visit.reply.code(errorTable[error.code].status);
  return error.message;
}

/** A server with its models, and the key for the form. Nothing of it is kept. */
async function serverIn(
  { connections }: PageParts,
  visit: Visit<never>,
): Promise<NonNullable<SettingsView['server']>> {
  const address = await toAddress(visit.field('address'));
  const given = visit.field('key').trim();
  if (given.length > keyMax || /[^\x21-\x7e]/.test(given))
    throw new AppError('validation_failed', `The key must be at most ${keyMax} letters, digits and signs.`);
  const stored = await connections.find(modelKind);
  // The key of one address is not sent to another.
  const apiKey = given || (stored?.baseUrl === address ? stored.apiKey : undefined);
  const found: FoundServer = await listModels(address, apiKey);
  const sealedKey = apiKey && connections.sealKey(modelKind, found.baseUrl, apiKey);
  return { ...found, sealedKey, chosen: stored?.model };
}

/** Tries the chosen model, or keeps it. */
async function useModel(parts: PageParts, visitor: Visitor) {
  const { models, connections, clock } = parts;
  const { visit } = visitor;
  const baseUrl = await toAddress(visit.field('address'));
  const sealedKey = visit.field('sealed') || undefined;
  const apiKey = sealedKey && connections.openKey(modelKind, baseUrl, sealedKey);
  if (sealedKey !== undefined && apiKey === undefined)
    throw new AppError('validation_failed', 'The key was given for another address. Enter it again.');
  const model = visit.field('model');
  if (!isModelName(model)) throw new AppError('validation_failed', 'Choose a model.');
  const connection = { baseUrl, apiKey, model };
  if (visit.field('deed') === 'save') {
    await connections.save(modelKind, connection, clock.now());
    const text = `${model} writes the answers from now on.`;
    return visit.redirect(pageRoutes.settings, { tone: 'good', text });
  }
  const listed = await listModels(baseUrl, apiKey);
  const server = { ...listed, sealedKey, chosen: model };
  try {
    return await showSettings(parts, visitor, { server, trial: await tryModel(models.open(connection)) });
  } catch (thrown) {
    return showSettings(parts, visitor, { server, problem: problemOf(visit, thrown) });
  }
}
