import { once } from 'node:events';
import { handlersWith, rowOf, serveTest } from './testing.ts';

/**
 * A server in a process of its own, to be killed: `fork` it with the port (0: any). It sends its port. A read of
 * `hang in <pid>`, a write, and a stream after its first message hang, and each sends `hanging`.
 */
const server = await serveTest(
  handlersWith({
    async read({ text }) {
      if (text !== `hang in ${process.pid}`) return { row: rowOf(process.pid, text) };
      process.send?.('hanging');
      return new Promise(() => {});
    },
    async write() {
      process.send?.('hanging');
      return new Promise(() => {});
    },
    async *watch() {
      yield { rows: [rowOf(1)] };
      process.send?.('hanging');
      await new Promise(() => {});
    },
  }),
  { port: Number(process.argv[2]) },
);
process.send?.(server.port);
await once(process, 'disconnect');
process.exit();
