import { parseArgs } from 'node:util';
import { configOf } from '@octavo/data/service';
import { embed } from '@octavo/embed';
import { readSuite } from '../index.ts';
import { contextFor } from '../system.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

const usualPort = 3_010;

export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { host: { type: 'string' } } });
  const environment = { ...process.env, ...(values.host !== undefined && { HOST: values.host }) };
  const stopped = stopSignal();
  const ports = { embed: readSuite(environment).PORT ?? usualPort };
  const context = contextFor('embed', { environment, ports }, { makesFolder: false });
  await using running = await embed.start(configOf(embed, environment, context.log), context, {});
  process.stdout.write(`${running.url}/v1\n`);
  await stopped;
  return 0;
}
