import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Connections to open, which then only wait. */
export interface IdleTask {
  readonly url: string;
  readonly count: number;
  /** The request of each. */
  readonly head: string;
  /** Texts to send in WebSocket frames: the first one when the server has switched protocols, the others when the connection is ready. */
  readonly frames?: readonly string[];
  /** Text by which a connection is known to be open. */
  readonly ready: string;
}

const atOnce = 50;

process.once('message', async (task: IdleTask) => {
  const numbers = Array.from({ length: task.count }, (_, number) => number).values();
  let opened = 0;
  const work = async () => {
    for (const _ of numbers) {
      // A server that is busy with others says so.
      while (!(await open(task))) await setTimeout(1_000);
      opened++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work)).catch((error) => console.error(error));
  process.send?.(opened);
});
// The sockets keep this process alive until it is killed.
process.once('disconnect', () => process.exit());

/** Resolves to false if the server is too busy. */
function open({ url, head, frames = [], ready }: IdleTask): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(head));
    let received = '';
    const onData = (bytes: Buffer) => {
      const hadSwitched = received.includes('\r\n\r\n');
      received += bytes.toString('latin1');
      if (!hadSwitched && received.includes('\r\n\r\n'))
        for (const text of frames.slice(0, 1)) socket.write(frame(text));
      if (!received.includes(ready)) return;
      for (const text of frames.slice(1)) socket.write(frame(text));
      socket.off('data', onData).off('close', onClose).resume();
      resolve(true);
    };
    const onClose = () =>
      received.startsWith('HTTP/1.1 503')
        ? resolve(false)
        : reject(new Error(`closed after ${JSON.stringify(received.slice(0, 300))}`));
    socket
      .on('data', onData)
      .once('close', onClose)
      .on('error', () => {});
  });
}

/** A text frame of a client (RFC 6455 section 5.2), with a mask of zeros. */
function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const head =
    body.length < 126 ? [0x81, 0x80 | body.length] : [0x81, 0xfe, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), body]);
}
