import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';

const inFlight = 64;
const payloadBytes = 256;
const passThrough = { serialize: (bytes: Buffer) => bytes, deserialize: (bytes: Buffer) => bytes };
const echo: grpc.MethodDefinition<Buffer, Buffer> = {
  path: '/echo.Echo/Echo',
  requestStream: false,
  responseStream: false,
  requestSerialize: passThrough.serialize,
  requestDeserialize: passThrough.deserialize,
  responseSerialize: passThrough.serialize,
  responseDeserialize: passThrough.deserialize,
};

/** Calls a second that a bare grpc-js client and server make between two processes, 64 in flight, echoing 256 bytes unparsed. */
export async function grpcEchoCallsPerSecond(seconds: number): Promise<number> {
  const server = fork(fileURLToPath(import.meta.url), ['server']);
  const [address] = (await once(server, 'message')) as [string];
  const client = fork(fileURLToPath(import.meta.url), ['client', address, String(seconds)]);
  const [perSecond] = (await once(client, 'message')) as [number];
  client.kill();
  server.kill();
  return perSecond;
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [role, address = '', seconds = '4'] = process.argv.slice(2);
  if (role === 'server') serve();
  else process.send(await call(address, Number(seconds)));
}

function serve(): void {
  const server = new grpc.Server();
  server.addService(
    { Echo: echo },
    {
      Echo: (request: grpc.ServerUnaryCall<Buffer, Buffer>, reply: grpc.sendUnaryData<Buffer>) =>
        reply(null, request.request),
    },
  );
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (_error, port) => {
    process.send?.(`127.0.0.1:${port}`);
  });
}

async function call(address: string, seconds: number): Promise<number> {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  const payload = Buffer.alloc(payloadBytes, 'x');
  let calls = 0;
  const next = () => {
    client.makeUnaryRequest(echo.path, passThrough.serialize, passThrough.deserialize, payload, (error) => {
      if (error) throw error;
      calls++;
      next();
    });
  };
  for (let index = 0; index < inFlight; index++) next();
  await setTimeout(Math.min(1, seconds) * 1_000);
  calls = 0;
  const startedAtMs = performance.now();
  await setTimeout(seconds * 1_000);
  return (calls * 1_000) / (performance.now() - startedAtMs);
}
