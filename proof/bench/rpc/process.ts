import { setTimeout } from 'node:timers/promises';
import { peers } from './peers.ts';

/** One side of a measurement, in a process of its own: `server PEER` or `client PEER ADDRESS IN_FLIGHT`. */
const [role, name = '', address = '', inFlight = '64'] = process.argv.slice(2);
const peer = peers[name];
if (!peer) throw new Error(`there is no peer ${name}`);

process.once('disconnect', () => process.exit());

let usage = process.cpuUsage();
const usedMicros = () => {
  const used = process.cpuUsage(usage);
  usage = process.cpuUsage();
  return used.user + used.system;
};

if (role === 'server') {
  process.on('message', () => process.send?.(usedMicros()));
  process.send?.(await peer.serve());
} else {
  const call = peer.connect(address);
  let calls = 0;
  let isOver = false;
  const loop = async () => {
    while (!isOver) {
      if ((await call('x')) === 0) throw new Error('the response is empty');
      calls += 1;
    }
  };
  const loops = Promise.all(Array.from({ length: Number(inFlight) }, loop));
  process.on('message', async (seconds: number) => {
    usedMicros();
    calls = 0;
    const startMs = performance.now();
    await setTimeout(seconds * 1_000);
    const perSecond = (calls / (performance.now() - startMs)) * 1_000;
    process.send?.({ perSecond, calls, micros: usedMicros() });
    isOver = true;
    await loops;
  });
  await setTimeout(1_500);
  process.send?.('warm');
}
