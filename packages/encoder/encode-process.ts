import { constants, setPriority } from 'node:os';
import { openModel } from './model.ts';
import type { EncodeCommand, EncodeReply } from './protocol.ts';

/** The process of the encoder. Everything else on the machine goes first. */
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const opened = openModel();

process.on('message', async ({ texts }: EncodeCommand) => {
  const model = await opened;
  const result = await model.encode(texts).catch((error: Error) => ({ failure: error.message }));
  process.send?.({ ...result, memoryBytes: process.memoryUsage.rss() } satisfies EncodeReply);
});
process.on('disconnect', () => process.exit());
