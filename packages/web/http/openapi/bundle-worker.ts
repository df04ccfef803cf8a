import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import scalar from '@scalar/fastify-api-reference';
import Fastify from 'fastify';

// The package has its browser bundle inside its code and serves it only with its own plugin.
const app = Fastify();
await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } });
const { rawPayload } = await app.inject('/reference/js/scalar.js');
parentPort?.postMessage(gzipSync(rawPayload));
