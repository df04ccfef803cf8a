import { isLoopback } from '@octavo/core';
import {
  type Content,
  card,
  confirm,
  count,
  type Frame,
  facts,
  field,
  type Html,
  html,
  layout,
  linkButton,
  notice,
} from '@octavo/web/html';
import {
  addressMax,
  type ConnectionKind,
  type EmbeddingsTrial,
  type FoundServer,
  keyMax,
  modelNameMax,
  type OrderTrial,
  type StoredConnection,
  type Trial,
} from '../../connection/index.ts';
import { pageRoutes } from '../../routes.ts';
import { kindTexts } from './kind-texts.ts';

/** A kind of server, and the one that is used. */
export interface KindView {
  readonly kind: ConnectionKind;
  /** True if the environment decides. */
  readonly isSet: boolean;
  readonly stored: StoredConnection | undefined;
  /** Undefined if none is connected. */
  readonly model: string | undefined;
  /** Result of its last request, in words. */
  readonly state: string;
}

/** A step between an address and a server that is kept. */
export interface SettingsStep {
  /** An address that could not be used. */
  readonly address?: string;
  readonly problem?: string;
  /** Servers of this machine. */
  readonly servers?: readonly FoundServer[];
  /** A server whose model is being chosen. */
  readonly server?: FoundServer & {
    /** The key, which only this service can read. */
    readonly sealedKey: string | undefined;
    readonly chosen: string | undefined;
  };
  readonly trial?: Trial | OrderTrial | EmbeddingsTrial;
  /** True if the choice has to be confirmed. */
  readonly isAsked?: boolean;
  /** True if it has to be confirmed that the server is disconnected. */
  readonly isDisconnecting?: boolean;
}

export interface SettingsView extends SettingsStep {
  readonly kinds: readonly KindView[];
  /** The kind whose form is shown. */
  readonly chosen: ConnectionKind;
  /** Reason why no choice can be kept. */
  readonly keepProblem: string | undefined;
  /** True where servers of this machine are looked for. */
  readonly canFind: boolean;
  /** True if the encoder of this machine makes vectors where no server does. */
  readonly hasEncoder: boolean;
  /** Passages, and those with vectors of the model in use. */
  readonly passages: { readonly chunks: number; readonly embedded: number };
}

/** The page where a model, embeddings and a reranker are connected. */
export function settingsPage(frame: Frame, view: SettingsView): string {
  return layout(frame, {
    title: 'Settings',
    styles: ['chat.css'],
    main: html`<div class="stack">${view.kinds.map((kind) => kindCards(frame, view, kind))}</div>`,
  });
}

/** The server of a kind, and below it the form of the kind that is chosen. */
function kindCards(frame: Frame, view: SettingsView, shown: KindView): Html {
  const { server, servers, keepProblem, chosen, isAsked, isDisconnecting } = view;
  const { kind, isSet } = shown;
  const current = (hasLink: boolean) => currentCard(frame, view, shown, hasLink);
  if (isSet || kind !== chosen) return current(!isSet);
  if (isDisconnecting) return html`${current(false)}${disconnectCard(frame, view, shown)}`;
  if (server && isAsked) return html`${current(false)}${newVectorsCard(frame, view, server)}`;
  return html`${current(false)}${keepProblem !== undefined && notice('warn', keepProblem)}${servers && serversCard(frame, kind, servers)}${
    server ? modelCard(frame, view, server) : addressCard(frame, view, shown)
  }`;
}

function currentCard(frame: Frame, view: SettingsView, shown: KindView, hasLink: boolean): Html {
  const { kind, isSet, model } = shown;
  const { title, setting, connect, another } = kindTexts[kind];
  if (model === undefined) {
    const none = kind === 'embeddings' && !view.hasEncoder ? kindTexts.embeddings.off : kindTexts[kind].none;
    const link = hasLink && html`<p class="actions">${linkButton(addressOf(kind), connect)}</p>`;
    return card(title, html`<p>${none}</p>${link}`);
  }
  const link = hasLink && linkButton(addressOf(kind), another, 'quiet');
  const next = isSet
    ? notice(
        'info',
        html`The environment decides: <code>${setting}</code> is set. Unset it to choose a server here.`,
      )
    : form(
        frame,
        kind,
        html`<p class="actions"><button class="secondary" name="deed" value="remove">Disconnect</button>${link}</p>`,
      );
  return card(title, html`<div class="stack">${facts(factsOf(view, shown))}${next}</div>`);
}

function factsOf({ passages }: SettingsView, { kind, stored, model, state }: KindView): [string, Content][] {
  const { chunks, embedded } = passages;
  const vectors = kind === 'embeddings' && `${embedded} of ${count(chunks, 'passage')}`;
  const rows: [string, Content][] = [
    ['Model', model],
    ['Server', stored?.baseUrl],
    ['Key', stored && keyWords(stored)],
    ['State', state],
    ['Vectors', vectors],
  ];
  return rows.filter(([, content]) => content);
}

function keyWords({ apiKey, isKeyLost }: StoredConnection): string {
  if (isKeyLost) return 'cannot be read anymore, as CHAT_SECRET has changed: enter it again';
  return apiKey === undefined ? 'none' : 'kept encrypted';
}

function serversCard(frame: Frame, kind: ConnectionKind, servers: readonly FoundServer[]): Html {
  if (servers.length === 0)
    return notice(
      'info',
      'No server answers on this machine. Start Ollama, LM Studio, llama.cpp, vLLM or Jan, or enter an address.',
    );
  return card(
    'Found on this machine',
    html`${servers.map(({ baseUrl, models }) =>
      form(
        frame,
        kind,
        html`<input type="hidden" name="address" value="${baseUrl}"><p><strong>${baseUrl}</strong> <span class="muted">${models.slice(0, 3).join(', ')}${models.length > 3 && ` and ${models.length - 3} more`}</span></p>
<p class="actions"><button class="secondary" name="deed" value="list">Choose a model</button></p>`,
      ),
    )}`,
  );
}

function addressCard(
  frame: Frame,
  { address, problem, canFind }: SettingsView,
  { kind, stored }: KindView,
): Html {
  const { connect, another, help } = kindTexts[kind];
  return card(
    stored ? another : connect,
    html`${problem !== undefined && notice('bad', problem)}${form(
      frame,
      kind,
      html`${field({
        name: 'address',
        label: 'Address',
        value: address ?? stored?.baseUrl,
        help,
        attributes: {
          required: true,
          maxlength: addressMax,
          placeholder: 'http://127.0.0.1:11434/v1',
          inputmode: 'url',
          autocomplete: 'off',
        },
      })}${field({
        name: 'key',
        label: 'Key',
        type: 'password',
        help:
          stored?.apiKey === undefined
            ? 'Leave empty if the server wants none.'
            : 'Leave empty to keep the key of this address. Another address needs its own.',
        attributes: { maxlength: keyMax, autocomplete: 'off' },
      })}<p class="actions"><button name="deed" value="list">List models</button></p>`,
    )}${
      canFind &&
      form(
        frame,
        kind,
        html`<p class="help">Or look for Ollama, LM Studio, llama.cpp, vLLM and Jan on this machine.</p><p class="actions"><button class="secondary" name="deed" value="find">Find on this machine</button></p>`,
      )
    }`,
  );
}

function modelCard(
  frame: Frame,
  { trial, problem, keepProblem, chosen: kind }: SettingsView,
  { baseUrl, models, sealedKey, chosen }: NonNullable<SettingsView['server']>,
): Html {
  const { host } = new URL(baseUrl);
  const isHere = isOnThisMachine(baseUrl);
  const { sent, tryIt } = kindTexts[kind];
  return card(
    `Models at ${host}`,
    html`${problem !== undefined && notice('bad', problem)}${trial && trialNotice(trial)}${form(
      frame,
      kind,
      html`<input type="hidden" name="address" value="${baseUrl}">${
        sealedKey !== undefined && html`<input type="hidden" name="sealed" value="${sealedKey}">`
      }${modelField(kind, models, chosen)}${notice(
        isHere ? 'info' : 'warn',
        isHere
          ? 'Questions and passages stay on this machine.'
          : html`${sent} sent to <strong>${host}</strong>.`,
      )}<p class="actions"><button class="secondary" name="deed" value="try">${tryIt}</button>${
        keepProblem === undefined && html`<button name="deed" value="save">Use this model</button>`
      }<a class="button quiet" href="${addressOf(kind)}">Cancel</a></p>`,
    )}`,
  );
}

/** All passages go to the server, and the former vectors are lost. */
function newVectorsCard(
  frame: Frame,
  { passages: { chunks }, trial, kinds }: SettingsView,
  { baseUrl, sealedKey, chosen = '' }: NonNullable<SettingsView['server']>,
): Html {
  const { host } = new URL(baseUrl);
  const former = kinds.find(({ kind }) => kind === 'embeddings')?.model;
  const place = isOnThisMachine(baseUrl)
    ? 'Nothing leaves this machine.'
    : html`The passages of all documents, private ones too, are sent to <strong>${host}</strong>, which may charge for it.`;
  const hidden = { deed: 'save', address: baseUrl, sealed: sealedKey, model: chosen, confirmed: chosen };
  return html`${trial && trialNotice(trial)}${confirm({
    title: `Make new vectors with ${chosen}?`,
    text: html`${count(chunks, 'passage')} get${chunks === 1 && 's'} a new vector. ${place} Until a document has its new vectors, it is found by its words. ${former === undefined ? 'The vectors that there are' : `The vectors of ${former}`} are removed once all are there.`,
    action: addressOf('embeddings'),
    csrfField: frame.csrfField,
    fields: hiddenFields(hidden),
    deed: 'Make new vectors',
    cancelHref: addressOf('embeddings'),
  })}`;
}

function disconnectCard(
  frame: Frame,
  { passages: { chunks }, hasEncoder }: SettingsView,
  { kind, model }: KindView,
): Html {
  return confirm({
    title: `Disconnect ${model}?`,
    text: hasEncoder
      ? `The encoder of this machine makes the vectors of ${count(chunks, 'passage')} again, and those of ${model} are removed once all are there.`
      : `${count(chunks, 'passage')} are found by their words alone from now on. The vectors of ${model} are kept until another model has made its own.`,
    action: addressOf(kind),
    csrfField: frame.csrfField,
    fields: hiddenFields({ deed: 'remove', confirmed: 'yes' }),
    deed: 'Disconnect',
    cancelHref: addressOf(kind),
  });
}

function hiddenFields(fields: Readonly<Record<string, string | undefined>>): Html {
  return html`${Object.entries(fields).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

function isOnThisMachine(baseUrl: string): boolean {
  return isLoopback(new URL(baseUrl).hostname.replace(/^\[|\]$/g, ''));
}

/** A server that lists no models may know one by its name. */
function modelField(kind: ConnectionKind, models: readonly string[], chosen: string | undefined): Html {
  const given = { name: 'model', label: 'Model' };
  if (models.length === 0)
    return field({
      ...given,
      value: chosen,
      help:
        kind === 'reranker'
          ? 'Leave empty if the server has one model only.'
          : 'The server lists none. Enter the name that it knows.',
      attributes: { required: kind !== 'reranker', maxlength: modelNameMax, autocomplete: 'off' },
    });
  const choices = models.map((name) => [name, name] as const);
  return field({ ...given, type: 'select', value: chosen || models[0], choices });
}

function trialNotice(trial: NonNullable<SettingsView['trial']>): Html {
  if ('dimensions' in trial)
    return orderNotice(trial, `Vectors of ${trial.dimensions} dimensions came within ${trial.ms} ms`);
  if ('isRight' in trial) return orderNotice(trial, `Two passages were ordered in ${trial.ms} ms`);
  const { text, firstTokenMs, tokensPerSecond } = trial;
  const speed = tokensPerSecond === undefined ? '' : `, then ${tokensPerSecond} tokens a second`;
  return notice('good', html`<p>${text || 'The model only thought.'}</p>`, {
    title: `First token after ${(firstTokenMs / 1_000).toFixed(1)} s${speed}`,
  });
}

function orderNotice({ isRight }: OrderTrial, title: string): Html {
  const text = isRight
    ? 'The passage that answers the question came first.'
    : 'The passage that does not answer the question came first.';
  return notice(isRight ? 'good' : 'warn', html`<p>${text}</p>`, { title });
}

function form({ csrfField }: Frame, kind: ConnectionKind, content: Html): Html {
  return html`<form class="form" method="post" action="${addressOf(kind)}">${csrfField}${content}</form>`;
}

function addressOf(kind: ConnectionKind): string {
  return kind === 'llm' ? pageRoutes.settings : `${pageRoutes.settings}?kind=${kind}`;
}
