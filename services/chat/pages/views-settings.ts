import { isLoopback } from '@octavo/core';
import { card, type Frame, facts, field, type Html, html, layout, notice } from '@octavo/web/html';
import {
  addressMax,
  type FoundServer,
  keyMax,
  type StoredConnection,
  type Trial,
} from '../connection/index.ts';
import { type ChatModel, causes } from '../model/index.ts';
import { pageRoutes } from '../routes.ts';

export interface SettingsView {
  /** True if the environment decides. */
  readonly isSet: boolean;
  readonly model: ChatModel | undefined;
  readonly stored: StoredConnection | undefined;
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
  readonly trial?: Trial;
}

/** The page where a model is connected. */
export function settingsPage(frame: Frame, view: SettingsView): string {
  const { isSet, server, servers, keepProblem } = view;
  return layout(frame, {
    title: 'Settings',
    styles: ['chat.css'],
    main: html`<div class="stack">${currentCard(frame, view)}${
      isSet
        ? undefined
        : html`${keepProblem !== undefined && notice('warn', keepProblem)}${servers && serversCard(frame, servers)}${
            server ? modelCard(frame, view, server) : addressCard(frame, view)
          }`
    }${vectorsCard(view)}</div>`,
  });
}

function currentCard(frame: Frame, { isSet, model, stored }: SettingsView): Html {
  if (!model)
    return card(
      'Model that writes answers',
      html`<p>None is connected: answers are quoted from the documents. A model also sums up, compares, and puts what several passages say into one answer; every sentence still has its source.</p>`,
    );
  const key = stored?.isKeyLost
    ? 'cannot be read anymore, as CHAT_SECRET has changed: enter it again'
    : stored?.apiKey === undefined
      ? 'none'
      : 'kept encrypted';
  const state = model.failure ? causes[model.failure] : model.isAvailable ? 'answers' : 'not asked yet';
  return card(
    'Model that writes answers',
    html`${facts([
      ['Model', model.names.join(', ')],
      ...(stored ? ([['Server', stored.baseUrl] as const, ['Key', key] as const] as const) : []),
      ['State', state],
    ])}${
      isSet
        ? notice(
            'info',
            html`The environment decides: <code>LLM_BASE_URL</code> is set. Unset it to choose a model here.`,
          )
        : form(
            frame,
            html`<p class="actions"><button class="secondary" name="deed" value="remove">Disconnect</button></p>`,
          )
    }`,
  );
}

function serversCard(frame: Frame, servers: readonly FoundServer[]): Html {
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
        html`<input type="hidden" name="address" value="${baseUrl}"><p><strong>${baseUrl}</strong> <span class="muted">${models.slice(0, 3).join(', ')}${models.length > 3 && ` and ${models.length - 3} more`}</span></p>
<p class="actions"><button class="secondary" name="deed" value="list">Choose a model</button></p>`,
      ),
    )}`,
  );
}

function addressCard(frame: Frame, { address, problem, stored, canFind }: SettingsView): Html {
  return card(
    stored ? 'Connect another model' : 'Connect a model',
    html`${problem !== undefined && notice('bad', problem)}${form(
      frame,
      html`${field({
        name: 'address',
        label: 'Address',
        value: address ?? stored?.baseUrl,
        help: 'A server with the API of OpenAI. Redirects are not followed.',
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
        html`<p class="help">Or look for Ollama, LM Studio, llama.cpp, vLLM and Jan on this machine.</p><p class="actions"><button class="secondary" name="deed" value="find">Find on this machine</button></p>`,
      )
    }`,
  );
}

function modelCard(
  frame: Frame,
  { trial, problem, keepProblem }: SettingsView,
  { baseUrl, models, sealedKey, chosen }: NonNullable<SettingsView['server']>,
): Html {
  const { hostname, host } = new URL(baseUrl);
  const isHere = isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return card(
    `Models at ${host}`,
    html`${problem !== undefined && notice('bad', problem)}${trial && trialNotice(trial)}${form(
      frame,
      html`<input type="hidden" name="address" value="${baseUrl}">${
        sealedKey !== undefined && html`<input type="hidden" name="sealed" value="${sealedKey}">`
      }${field({
        name: 'model',
        label: 'Model',
        type: 'select',
        value: chosen ?? models[0],
        choices: models.map((name) => [name, name] as const),
      })}${notice(
        isHere ? 'info' : 'warn',
        isHere
          ? 'Questions and passages stay on this machine.'
          : html`Questions, the last turns of a chat and the passages found for them are sent to <strong>${host}</strong>.`,
      )}<p class="actions"><button class="secondary" name="deed" value="try">Try one question</button>${
        keepProblem === undefined && html`<button name="deed" value="save">Use this model</button>`
      }<a class="button quiet" href="${pageRoutes.settings}">Cancel</a></p>`,
    )}`,
  );
}

function trialNotice({ text, firstTokenMs, tokensPerSecond }: Trial): Html {
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

function form({ csrfField }: Frame, content: Html): Html {
  return html`<form class="form" method="post" action="${pageRoutes.settings}">${csrfField}${content}</form>`;
}
