import type { Clock } from '@octavo/core';
import { contextOf } from '../model/index.ts';
import { CrossEncoder } from '../retrieval/index.ts';
import { listModels } from './probe.ts';

/** A server that the settings name, as it answers now. */
export interface ServerCheck {
  readonly setting: string;
  /** A sentence without a full stop. */
  readonly text: string;
  readonly isWorking: boolean;
}

/** The settings that name servers. */
export interface ServerSettings {
  readonly LLM_BASE_URL?: string | undefined;
  readonly LLM_MODEL?: string | undefined;
  readonly LLM_API_KEY?: string | undefined;
  readonly EMBEDDING_BASE_URL?: string | undefined;
  readonly EMBEDDING_MODEL?: string | undefined;
  readonly EMBEDDING_API_KEY?: string | undefined;
  readonly RERANK_BASE_URL?: string | undefined;
  readonly RERANK_MODEL?: string | undefined;
  readonly RERANK_API_KEY?: string | undefined;
}

/** Asks the servers of the settings if they are there and have the models. Each is asked once, for nothing that costs. */
export async function checkServers(settings: ServerSettings, clock: Clock): Promise<ServerCheck[]> {
  const { LLM_BASE_URL: llm, EMBEDDING_BASE_URL: embedding, RERANK_BASE_URL: reranker } = settings;
  const asked: Promise<ServerCheck>[] = [];
  if (llm !== undefined)
    asked.push(
      checkNow('LLM_BASE_URL', () => modelsAt(llm, settings.LLM_API_KEY, settings.LLM_MODEL ?? '', true)),
    );
  if (embedding !== undefined)
    asked.push(
      checkNow('EMBEDDING_BASE_URL', () =>
        modelsAt(embedding, settings.EMBEDDING_API_KEY, settings.EMBEDDING_MODEL ?? '', false),
      ),
    );
  if (reranker !== undefined)
    asked.push(
      checkNow('RERANK_BASE_URL', async () => {
        const { RERANK_MODEL: model, RERANK_API_KEY: apiKey } = settings;
        const encoder = new CrossEncoder({ baseUrl: reranker, apiKey, model, clock });
        await encoder.rank('Is it open?', [{ text: 'It is open.', rankScore: 1 }]);
        return `${encoder.name} orders passages`;
      }),
    );
  return Promise.all(asked);
}

async function checkNow(setting: string, check: () => Promise<string>): Promise<ServerCheck> {
  try {
    return { setting, text: await check(), isWorking: true };
  } catch (error) {
    const { name, message } = error as Error;
    const words = name === 'RerankFailure' ? `The reranker ${message}` : message.replace(/\.$/, '');
    return { setting, text: words, isWorking: false };
  }
}

/** Throws where a named model is not listed. */
async function modelsAt(
  baseUrl: string,
  apiKey: string | undefined,
  named: string,
  hasContext: boolean,
): Promise<string> {
  const { baseUrl: found, models } = await listModels(baseUrl, apiKey);
  if (found !== baseUrl.replace(/\/+$/, '')) throw new Error(`The API is at ${found}`);
  const names = named.split(',').map((name) => name.trim());
  const missing = names.filter((name) => !models.includes(name) && !models.includes(`${name}:latest`));
  if (missing.length > 0) throw new Error(`The server does not have ${missing.join(', ')}`);
  const tokens = hasContext ? await contextOf({ baseUrl, apiKey }, names[0] ?? '') : undefined;
  const context = tokens === undefined ? '' : `, with a context of ${tokens} tokens`;
  return `${names.join(', ')} is there${context}`;
}
