import { type IngestParts, indexOrMark, leaseMs } from './ingest.ts';
import { claimAbandoned, clearChunks, contentOf, removeDocument } from './store.ts';

const everyMs = 30_000;

/** Ends what processes that were killed had begun, now and every 30 seconds. */
export function resumeDocuments(parts: IngestParts): Disposable {
  let isResuming = false;
  const resume = () => {
    if (isResuming) return;
    isResuming = true;
    parts.background.run('going on with documents', () =>
      resumeAbandoned(parts).finally(() => {
        isResuming = false;
      }),
    );
  };
  resume();
  const timer = setInterval(resume, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function resumeAbandoned(parts: IngestParts): Promise<void> {
  const { database, clock } = parts;
  for (;;) {
    const document = await claimAbandoned(database, { nowMs: clock.now(), leaseMs });
    if (!document) return;
    // A successor has no bytes of its own before it takes over, and its document is still there.
    const isSuccessor = document.sha256 === document.publicId;
    if (document.status === 'deleting' || isSuccessor) {
      await removeDocument(database, document.id);
    } else {
      await clearChunks(database, document.id);
      const bytes = Buffer.concat(await Array.fromAsync(contentOf(database, document.id)));
      await indexOrMark(parts, document, { bytes });
    }
  }
}
