import { systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { Encoder } from '@octavo/encoder';
import { localEncoder, openEmbeddings } from '../../../services/chat/embeddings/index.ts';
import { Retriever } from '../../../services/chat/retrieval/index.ts';
import type { Corpus } from '../../../training/retrieval/corpus.ts';

/** The corpus with vectors of its chunks by the encoder of this machine, which takes 0.05 s of a processor for each. */
export async function withEncoder(corpus: Corpus, encoder: Encoder): Promise<Corpus> {
  const { database } = corpus;
  const source = localEncoder(encoder, false);
  const parts = { source, timeoutMs: 60_000, clock: systemClock, database, log: silentLog };
  const embeddings = await openEmbeddings(parts);
  await embeddings.fill(new AbortController().signal);
  return {
    ...corpus,
    retriever: new Retriever(database, { embeddings: { current: async () => embeddings } }),
  };
}
