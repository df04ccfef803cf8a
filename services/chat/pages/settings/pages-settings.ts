import { AppError, toAppError } from '@octavo/core';
import type { Visit } from '@octavo/web/pages';
import {
  type Connection,
  type ConnectionKind,
  connectionKinds,
  findServer,
  findServers,
  isModelName,
  keyMax,
  listModels,
  ServerProblem,
  stateOfEmbeddings,
  stateOfModel,
  stateOfReranker,
  toAddress,
  tryEmbeddings,
  tryModel,
  tryReranker,
} from '../../connection/index.ts';
import { errorTable } from '../../errors.ts';
import { pageRoutes } from '../../routes.ts';
import {
  framed,
  mayConnect,
  type PageParts,
  type Routes,
  type Visitor,
  visitorsOf,
} from '../pages-visitor.ts';
import { kindTexts } from './kind-texts.ts';
import { type KindView, type SettingsStep, settingsPage } from './views-settings.ts';

/** Adds the page where administrators connect a model, embeddings and a reranker. */
export function addSettings(routes: Routes, parts: PageParts): void {
  const visitor = visitorsOf(parts);
  const access = async (visit: Visit<never>) => {
    const found = await visitor(visit);
    if (await mayConnect(parts, visit)) return found;
    throw new AppError(
      'forbidden',
      parts.gate.hasSignIn
        ? 'Only administrators connect models.'
        : 'No one can sign in here, so models are connected from this machine only. Open the page at localhost.',
    );
  };
  routes.get(pageRoutes.settings, { access }, (found) => showSettings(parts, found, {}));
  routes.post(pageRoutes.settings, { access }, (found) => changeSettings(parts, found));
}

async function showSettings(parts: PageParts, visitor: Visitor, step: SettingsStep): Promise<string> {
  const { connections, embeddings } = parts;
  return settingsPage(await framed(parts, visitor), {
    kinds: await Promise.all(connectionKinds.map((kind) => kindView(parts, kind))),
    chosen: kindIn(visitor.visit),
    keepProblem: connections.problem,
    canFind: canFind(parts),
    hasEncoder: parts.hasEncoder,
    passages: await embeddings.progress(),
    ...step,
  });
}

async function kindView(parts: PageParts, kind: ConnectionKind): Promise<KindView> {
  const { models, rerankers, vectorServers, connections, watch } = parts;
  const { isSet } = connectedFor(parts, kind);
  const stored = isSet ? undefined : await connections.find(kind);
  const view = { kind, isSet, stored };
  if (kind === 'llm') {
    const model = await models.current();
    return { ...view, model: model?.names.join(', '), state: stateOfModel(model, watch).state };
  }
  if (kind === 'embeddings') {
    const embeddings = await parts.embeddings.current();
    const model = (await vectorServers.current())?.model;
    return { ...view, model, state: stateOfEmbeddings(embeddings, watch).state };
  }
  const reranker = await rerankers.current();
  return { ...view, model: reranker?.name, state: stateOfReranker(reranker, watch).state };
}

function connectedFor({ models, vectorServers, rerankers }: PageParts, kind: ConnectionKind) {
  return { llm: models, embeddings: vectorServers, reranker: rerankers }[kind];
}

/** The kind of server that a form or a link is about. */
function kindIn(visit: Visit<never>): ConnectionKind {
  const { kind } = visit.request.query as { readonly kind?: string };
  return connectionKinds.find((each) => each === kind) ?? 'llm';
}

/** Servers of this machine are looked for only where it belongs to the person at the page. */
function canFind({ environment }: PageParts): boolean {
  return environment !== 'production';
}

async function changeSettings(parts: PageParts, visitor: Visitor) {
  const { connections } = parts;
  const { visit } = visitor;
  const kind = kindIn(visit);
  const { setting, removed } = kindTexts[kind];
  if (connectedFor(parts, kind).isSet)
    throw new AppError('conflict', `${setting} of the environment decides which server is used.`);
  const address = visit.field('address');
  try {
    switch (visit.field('deed')) {
      case 'find':
        if (!canFind(parts)) throw new AppError('forbidden', 'Servers are not looked for in production.');
        return showSettings(parts, visitor, { servers: await findServers() });
      case 'remove':
        if (visit.field('confirmed') === '' && (await changesVectors(parts, kind, undefined)))
          return showSettings(parts, visitor, { isDisconnecting: true });
        await connections.remove(kind);
        return visit.redirect(pageRoutes.settings, { tone: 'good', text: removed });
      case 'list':
        return showSettings(parts, visitor, { server: await serverIn(parts, visit) });
      default:
        return await useModel(parts, visitor);
    }
  } catch (thrown) {
    return showSettings(parts, visitor, { address, problem: problemOf(visit, thrown) });
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
): Promise<NonNullable<SettingsStep['server']>> {
  const address = await toAddress(visit.field('address'));
  const given = visit.field('key').trim();
  if (given.length > keyMax || /[^\x21-\x7e]/.test(given))
    throw new AppError('validation_failed', `The key must be at most ${keyMax} letters, digits and signs.`);
  const kind = kindIn(visit);
  const stored = await connections.find(kind);
  // The key of one address is not sent to another.
  const apiKey = given || (stored?.baseUrl === address ? stored.apiKey : undefined);
  const found = await serverAt(kind, address, apiKey);
  const sealedKey = apiKey && connections.sealKey(kind, found.baseUrl, apiKey);
  return { ...found, sealedKey, chosen: stored?.model };
}

function serverAt(kind: ConnectionKind, address: string, apiKey: string | undefined) {
  return kind === 'llm' ? listModels(address, apiKey) : findServer(address, apiKey);
}

function trialOf(parts: PageParts, kind: ConnectionKind, connection: Connection) {
  const { models, vectorServers, rerankers, clock } = parts;
  if (kind === 'llm') return tryModel(models.open(connection));
  if (kind === 'embeddings') return tryEmbeddings(vectorServers.open(connection), clock);
  return tryReranker(rerankers.open(connection));
}

/** True if a choice makes the vectors of passages again, or leaves them without any. */
async function changesVectors(
  { embeddings, vectorServers }: PageParts,
  kind: ConnectionKind,
  model: string | undefined,
): Promise<boolean> {
  if (kind !== 'embeddings' || (await vectorServers.current())?.model === model) return false;
  return (await embeddings.progress()).chunks > 0;
}

/** Tries the chosen model, or keeps it. Vectors are made again only of a model that was tried, and once that was confirmed. */
async function useModel(parts: PageParts, visitor: Visitor) {
  const { connections, clock } = parts;
  const { visit } = visitor;
  const kind = kindIn(visit);
  const baseUrl = await toAddress(visit.field('address'));
  const sealedKey = visit.field('sealed') || undefined;
  const apiKey = sealedKey && connections.openKey(kind, baseUrl, sealedKey);
  if (sealedKey !== undefined && apiKey === undefined)
    throw new AppError('validation_failed', 'The key was given for another address. Enter it again.');
  const model = visit.field('model');
  const isNamed = isModelName(model) || (kind === 'reranker' && model === '');
  if (!isNamed) throw new AppError('validation_failed', 'Choose a model.');
  const connection = { baseUrl, apiKey, model };
  const isSaved = visit.field('deed') === 'save';
  const isAsked = isSaved && visit.field('confirmed') !== model && (await changesVectors(parts, kind, model));
  if (isSaved && !isAsked) {
    await connections.save(kind, connection, clock.now());
    const text = `${model || 'The reranker'} ${kindTexts[kind].used}`;
    return visit.redirect(pageRoutes.settings, { tone: 'good', text });
  }
  const listed = await serverAt(kind, baseUrl, apiKey);
  const server = { ...listed, sealedKey, chosen: model };
  try {
    const trial = await trialOf(parts, kind, connection);
    return await showSettings(parts, visitor, { server, trial, isAsked });
  } catch (thrown) {
    return showSettings(parts, visitor, { server, problem: problemOf(visit, thrown) });
  }
}
