import { isLoopback } from '@octavo/core';
import {
  card,
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
  type FoundServer,
  keyMax,
  modelNameMax,
  type RerankTrial,
  type StoredConnection,
  type Trial,
} from '../connection/index.ts';
import { pageRoutes } from '../routes.ts';

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

export interface SettingsView {
  readonly kinds: readonly KindView[];
  /** The kind whose form is shown. */
  readonly chosen: ConnectionKind;
  /** Reason why no choice can be kept. */
  readonly keepProblem: string | undefined;
  /** True where servers of this machine are looked for. */
  readonly canFind: boolean;
  readonly embeddingModel: string | undefined;
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
  readonly trial?: Trial | RerankTrial;
}

/** Texts about a kind of server. */
export const kindTexts = {
  llm: {
    title: 'Model that writes answers',
    none: 'None is connected: answers are quoted from the documents. A model also sums up, compares, and puts what several passages say into one answer; every sentence still has its source.',
    setting: 'LLM_BASE_URL',
    connect: 'Connect a model',
    another: 'Connect another model',
    help: 'A server with the API of OpenAI. Redirects are not followed.',
    sent: 'Questions, the last turns of a chat and the passages found for them are',
    used: 'writes the answers from now on.',
    removed: 'The model is disconnected.',
  },
  reranker: {
    title: 'Reranker',
    none: 'None is connected: passages are in the order of the built-in reranker. A model that reads question and passage together finds the right one more often.',
    setting: 'RERANK_BASE_URL',
    connect: 'Connect a reranker',
    another: 'Connect another reranker',
    help: 'A server with the /rerank API of Cohere, Jina, vLLM, llama.cpp or text-embeddings-inference. Redirects are not followed.',
    sent: 'Questions and the first 40 passages found for them are',
    used: 'orders the passages from now on.',
    removed: 'The reranker is disconnected.',
  },
} as const;

/** The page where a model and a reranker are connected. */
export function settingsPage(frame: Frame, view: SettingsView): string {
  return layout(frame, {
    title: 'Settings',
    styles: ['chat.css'],
    main: html`<div class="stack">${view.kinds.map((kind) => kindCards(frame, view, kind))}${vectorsCard(view)}</div>`,
  });
}

/** The server of a kind, and below it the form of the kind that is chosen. */
function kindCards(frame: Frame, view: SettingsView, shown: KindView): Html {
  const { server, servers, keepProblem, chosen } = view;
  const { kind, isSet } = shown;
  if (isSet || kind !== chosen) return currentCard(frame, shown, !isSet);
  return html`${currentCard(frame, shown, false)}${keepProblem !== undefined && notice('warn', keepProblem)}${servers && serversCard(frame, kind, servers)}${
    server ? modelCard(frame, view, server) : addressCard(frame, view, shown)
  }`;
}

function currentCard(frame: Frame, { kind, isSet, stored, model, state }: KindView, hasLink: boolean): Html {
  const { title, none, setting, connect, another } = kindTexts[kind];
  const link =
    hasLink &&
    linkButton(
      addressOf(kind),
      model === undefined ? connect : another,
      model === undefined ? undefined : 'quiet',
    );
  if (model === undefined)
    return card(title, html`<p>${none}</p>${link && html`<p class="actions">${link}</p>`}`);
  const key = stored?.isKeyLost
    ? 'cannot be read anymore, as CHAT_SECRET has changed: enter it again'
    : stored?.apiKey === undefined
      ? 'none'
      : 'kept encrypted';
  return card(
    title,
    html`${facts([
      ['Model', model],
      ...(stored ? ([['Server', stored.baseUrl] as const, ['Key', key] as const] as const) : []),
      ['State', state],
    ])}${
      isSet
        ? notice(
            'info',
            html`The environment decides: <code>${setting}</code> is set. Unset it to choose a server here.`,
          )
        : form(
            frame,
            kind,
            html`<p class="actions"><button class="secondary" name="deed" value="remove">Disconnect</button>${link}</p>`,
          )
    }`,
  );
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
  const { hostname, host } = new URL(baseUrl);
  const isHere = isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return card(
    `Models at ${host}`,
    html`${problem !== undefined && notice('bad', problem)}${trial && trialNotice(trial)}${form(
      frame,
      kind,
      html`<input type="hidden" name="address" value="${baseUrl}">${
        sealedKey !== undefined && html`<input type="hidden" name="sealed" value="${sealedKey}">`
      }${modelField(models, chosen)}${notice(
        isHere ? 'info' : 'warn',
        isHere
          ? 'Questions and passages stay on this machine.'
          : html`${kindTexts[kind].sent} sent to <strong>${host}</strong>.`,
      )}<p class="actions"><button class="secondary" name="deed" value="try">Try one question</button>${
        keepProblem === undefined && html`<button name="deed" value="save">Use this model</button>`
      }<a class="button quiet" href="${addressOf(kind)}">Cancel</a></p>`,
    )}`,
  );
}

/** A server that lists no models may know one by its name. */
function modelField(models: readonly string[], chosen: string | undefined): Html {
  const given = { name: 'model', label: 'Model' };
  if (models.length === 0)
    return field({
      ...given,
      value: chosen,
      help: 'Leave empty if the server has one model only.',
      attributes: { maxlength: modelNameMax, autocomplete: 'off' },
    });
  const choices = models.map((name) => [name, name] as const);
  return field({ ...given, type: 'select', value: chosen || models[0], choices });
}

function trialNotice(trial: Trial | RerankTrial): Html {
  if ('isRight' in trial) {
    const title = `Two passages were ordered in ${trial.ms} ms`;
    const text = trial.isRight ? 'The right one came first.' : 'The wrong one came first.';
    return notice(trial.isRight ? 'good' : 'warn', html`<p>${text}</p>`, { title });
  }
  const { text, firstTokenMs, tokensPerSecond } = trial;
  const speed = tokensPerSecond === undefined ? '' : `, then ${tokensPerSecond} tokens a second`;
  return notice('good', html`<p>${text || 'The model only thought.'}</p>`, {
    title: `First token after ${(firstTokenMs / 1_000).toFixed(1)} s${speed}`,
  });
}

function vectorsCard({ embeddingModel }: SettingsView): Html {
  return card(
    'Vectors',
    html`${facts([['Model', embeddingModel ?? 'built in']])}<p class="help">Set by <code>EMBEDDING_BASE_URL</code> or <code>CHAT_EMBEDDINGS</code> of the environment.</p>`,
  );
}

function form({ csrfField }: Frame, kind: ConnectionKind, content: Html): Html {
  return html`<form class="form" method="post" action="${addressOf(kind)}">${csrfField}${content}</form>`;
}

function addressOf(kind: ConnectionKind): string {
  return kind === 'llm' ? pageRoutes.settings : `${pageRoutes.settings}?kind=${kind}`;
}
