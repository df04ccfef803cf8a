import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadPeer } from '../lib/peer-packages.ts';

/** Parse Server on PostgreSQL, without limits and logs. It tells its address. */
const [databaseURI = ''] = process.argv.slice(2);
const express = loadPeer('express');
const { ParseServer } = loadPeer('parse-server');
const app = express();
const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
const serverURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/parse`;
const parse = new ParseServer({
  databaseURI,
  serverURL,
  appId: 'bench',
  masterKey: 'a key for measuring',
  maintenanceKey: 'another key for measuring',
  allowClientClassCreation: true,
  silent: true,
});
await parse.start();
app.use('/parse', parse.app);
process.send?.(serverURL);
