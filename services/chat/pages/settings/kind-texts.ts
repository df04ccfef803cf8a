import type { ConnectionKind } from '../../connection/index.ts';

interface KindTexts {
  readonly title: string;
  /** Shown while none is connected. */
  readonly none: string;
  /** The setting that decides before the page. */
  readonly setting: string;
  readonly connect: string;
  readonly another: string;
  readonly help: string;
  /** Beginning of the sentence that says what goes to another host. */
  readonly sent: string;
  /** The rest of a sentence that begins with the model. */
  readonly used: string;
  readonly removed: string;
  /** Label of the button that tries it. */
  readonly tryIt: string;
}

/** Texts about the kinds of servers. */
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
    tryIt: 'Try one question',
  },
  embeddings: {
    title: 'Embeddings',
    none: 'None are connected: the encoder of this machine finds passages by their meaning, in English. A larger model finds more of them, and in other languages.',
    off: 'None are connected, and CHAT_EMBEDDINGS turns the encoder of this machine off: passages are found by their words. A model also finds those that say it in other words.',
    setting: 'EMBEDDING_BASE_URL',
    connect: 'Connect embeddings',
    another: 'Connect other embeddings',
    help: 'A server with the embeddings API of OpenAI. Redirects are not followed.',
    sent: 'Every question and every passage of all documents, private ones too, are',
    used: 'makes the vectors from now on. Documents without new vectors are found by their words.',
    removed: 'The embeddings are disconnected.',
    tryIt: 'Try three texts',
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
    tryIt: 'Try one question',
  },
} as const satisfies Record<ConnectionKind, KindTexts> & { embeddings: { off: string } };
