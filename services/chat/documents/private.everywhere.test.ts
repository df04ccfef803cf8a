import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bearer, PageClient, sendRequest, type TestResponse } from '@octavo/testing';
import { Walker } from '@octavo/testing/sign-in';
import { io } from 'socket.io-client';
import { pageRoutes } from '../routes.ts';
import { startChat } from '../testing.ts';
import { startPeople } from '../testing-people.ts';

/**
 * A private document is looked for on every route, page and socket. Routes come from `/openapi.json`: one that is not in the table fails until
 * it says what it does with a document of somebody else.
 */

const people = await startPeople();
const { provider } = people;
const chat = await startChat({ environment: people.signIn });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const viewers = ['stranger', 'bob', 'reader', 'admin'] as const;
type Viewer = (typeof viewers)[number];

const tokenOf = async (viewer: Viewer | 'alice') =>
  viewer === 'stranger' ? undefined : people.tokenOf(viewer);
const headersOf = async (viewer: Viewer | 'alice') => ({ ...bearer(await tokenOf(viewer)) });

const content =
  '# Wages of Alice\n\n## Zephyrine bonus\n\nThe lighthouse keeper gets 4711 ducats each spring, in vermilion.\n';
const file = { name: 'payslip-77.md', content };
const question = 'How many ducats does the lighthouse keeper get each spring?';
/** Words that nobody but Alice may read. Nobody asks for them, as answers repeat the question. */
const secrets = /vermilion|zephyrine|wages of alice|moonpay|harborage/i;
/** Names of files, which an administrator sees in lists. */
const names = /payslip-77|cove-88/;
let [id, chatId, session, turn, message, tagless, owner, path] = ['', '', '', '', '', '', '', ''];

before(async () => {
  const headers = await headersOf('alice');
  await chat.upload(
    [{ name: 'ferry.md', content: '# Ferry\n\nThe ferry sails on Mondays.' }],
    { visibility: 'everyone' },
    await headersOf('admin'),
  );
  await chat.upload([{ name: 'open.md', content: 'The pier opens at noon.' }]);
  const uploaded = await chat.upload([file], { tags: 'moonpay' }, headers);
  const [document] = uploaded.json.documents;
  assert.deepEqual([document.visibility, document.mine], ['private', true]);
  id = document.document_id;
  owner = document.owner;
  path = `/api/documents/${id}`;
  session = (await chat.send('POST', '/api/session', {}, headers)).json.session_id;
  const inChat = { name: 'cove-88.md', content: '# Harborage\n\nThe harborage code is walrus.' };
  chatId = (await chat.upload([inChat], { session_id: session }, headers)).json.documents[0].document_id;
  turn = 'the-turn-of-alice';
  const asked = { query: question, request_id: turn, session_id: session };
  const answered = await chat.send('POST', '/api/chat', asked, headers);
  assert.match(answered.json.answer, /4711 ducats/, 'its owner finds it');
  message = answered.json.message_id;
  tagless = file.name.replace('.md', '');
});

interface Probe {
  readonly path: string;
  readonly body?: unknown;
  /** Status that everybody gets, or only the administrator. */
  readonly status?: number;
  readonly adminStatus?: number;
}

/** Requests to each operation. None of the responses may have a secret. */
const table: Record<string, (viewer: Viewer) => readonly Probe[]> = {
  'post /api/chat': () => [
    ...[
      question,
      'How high is the zephirine bonus?',
      'Which documents are there?',
      'How many documents are there?',
      `Summarize ${tagless}`,
      'Is there something about a lighthouse?',
      'Who wrote it?',
      'Summarize everything',
    ].flatMap((query) =>
      [undefined, { document_ids: [id, chatId] }, { visibility: 'private' }].map((filters) => ({
        path: '/api/chat',
        body: { query, filters },
        status: 200,
      })),
    ),
    { path: '/api/chat', body: { query: question, session_id: session }, status: 404 },
    { path: '/api/chat', body: { query: question, request_id: turn }, status: 200 },
    { path: '/api/chat', body: { query: question, stream: true }, status: 200 },
  ],
  'post /api/chat/{id}/cancel': () => [{ path: `/api/chat/unknown-turn/cancel`, body: {}, status: 404 }],
  'post /api/chat/{id}/feedback': () => [
    { path: `/api/chat/${message}/feedback`, body: { rating: 'up' }, status: 404 },
  ],
  'post /api/chat/completions': () => [
    completion('/api/chat/completions'),
    inSession('/api/chat/completions'),
  ],
  'post /v1/chat/completions': () => [completion('/v1/chat/completions'), inSession('/v1/chat/completions')],
  'get /v1/models': () => [{ path: '/v1/models', status: 200 }],
  'get /v1/models/{id}': () => [{ path: '/v1/models/builtin-extractive', status: 200 }],
  'post /mcp': () => [
    call('tools/list', {}),
    ...['hybrid', 'semantic', 'multi_query', 'decomposed'].map((strategy) =>
      call('tools/call', { name: 'search_documents', arguments: { query: question, strategy, top_k: 20 } }),
    ),
  ],
  'post /api/search': () => [
    ...['hybrid', 'semantic', 'multi_query', 'decomposed'].flatMap((strategy) =>
      [
        {},
        { document_ids: [id, chatId] },
        { tags: ['moonpay'] },
        { visibility: 'private' },
        { visibility: 'everyone' },
      ].map((filters) => ({
        path: '/api/search',
        body: { query: question, strategy, filters, top_k: 100 },
        status: 200,
      })),
    ),
    { path: '/api/search', body: { query: question, session_id: session }, status: 404 },
  ],
  'post /api/session': () => [{ path: '/api/session', body: {}, status: 201 }],
  'get /api/session': () => [{ path: `/api/session?session_id=${session}`, status: 404 }],
  'get /api/session/{id}': () => [{ path: `/api/session/${session}`, status: 404 }],
  'patch /api/session/{id}': () => [
    { path: `/api/session/${session}`, body: { title: 'Mine' }, status: 404 },
  ],
  'delete /api/session/{id}': () => [{ path: `/api/session/${session}`, status: 404 }],
  'post /api/session/{id}/clear': () => [{ path: `/api/session/${session}/clear`, body: {}, status: 404 }],
  'post /api/session/{id}/share': () => [{ path: `/api/session/${session}/share`, status: 404 }],
  'delete /api/session/{id}/share': () => [{ path: `/api/session/${session}/share`, status: 404 }],
  'get /api/session/{id}/export': () => [{ path: `/api/session/${session}/export?format=md`, status: 404 }],
  'get /api/sessions': () => [
    { path: '/api/sessions', status: 200 },
    { path: '/api/sessions?q=lighthouse', status: 200 },
  ],
  'get /api/upload': () => [{ path: '/api/upload', status: 200 }],
  // Its own test below.
  'post /api/upload': () => [],
  'get /api/documents': () => [
    { path: '/api/documents?limit=100', status: 200 },
    { path: '/api/documents?q=zephyrine', status: 200 },
    { path: '/api/documents?q=wages', status: 200 },
    { path: '/api/documents?tag=moonpay', status: 200 },
  ],
  'get /api/documents/{id}': () => both(''),
  'get /api/documents/{id}/content': () => both('/content'),
  'get /api/documents/{id}/text': () => both('/text'),
  'get /api/documents/{id}/chunks': () => both('/chunks'),
  'get /api/documents/{id}/pages/{page}.png': () => both('/pages/1.png?start=0&end=9'),
  'patch /api/documents/{id}': () =>
    [{ visibility: 'everyone' }, { title: 'Mine' }, { tags: ['mine'] }, {}].map((body) => ({
      path,
      body,
      status: 404,
      adminStatus: 403,
    })),
  'post /api/documents/{id}/reindex': () => [
    { path: `${path}/reindex`, body: {}, status: 404, adminStatus: 200 },
  ],
  // The administrator may, so it comes last, in a test of its own.
  'delete /api/documents/{id}': (viewer) => (viewer === 'admin' ? [] : [{ path, status: 404 }]),
  'post /api/documents/sync': () => [
    {
      path: '/api/documents/sync',
      body: { files: [{ path: file.name, sha256: '0'.repeat(64) }] },
      status: 200,
    },
  ],
  'get /api/strategies': () => [{ path: '/api/strategies', status: 200 }],
  'get /api/tools': () => [{ path: '/api/tools', status: 200 }],
  'get /api/system/info': () => [{ path: '/api/system/info', status: 200 }],
  'get /livez': () => [{ path: '/livez', status: 200 }],
  'get /readyz': () => [{ path: '/readyz', status: 200 }],
  'get /health': () => [{ path: '/health', status: 200 }],
  'get /readiness': () => [{ path: '/readiness', status: 200 }],
  'get /metrics': () => [{ path: '/metrics', status: 200 }],
};

function completion(at: string): Probe {
  const body = { model: 'builtin-extractive', messages: [{ role: 'user', content: question }], top_k: 20 };
  return { path: at, body, status: 200 };
}

function inSession(at: string): Probe {
  return {
    ...completion(at),
    body: { ...(completion(at).body as object), session_id: session },
    status: 404,
  };
}

function call(method: string, params: object): Probe {
  return { path: '/mcp', body: { jsonrpc: '2.0', id: 1, method, params }, status: 200 };
}

function both(part: string): Probe[] {
  return [id, chatId].map((each) => ({ path: `/api/documents/${each}${part}`, status: 404 }));
}

/** Ids of the documents are secret, too, but where they are part of the question. */
function assertNoTrace(
  { text, status }: Pick<TestResponse, 'text' | 'status'>,
  viewer: Viewer,
  what: string,
): void {
  assert.doesNotMatch(text, secrets, `${what} as ${viewer}: ${status} ${text.slice(0, 400)}`);
}

test('every operation is in the table', async () => {
  const { paths } = (await chat.send('GET', '/openapi.json')).json;
  const operations = Object.entries(paths as Record<string, object>).flatMap(([at, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'head' && method !== 'parameters')
      .map((method) => `${method} ${at}`),
  );
  assert.deepEqual(Object.keys(table).toSorted(), operations.toSorted());
});

for (const viewer of viewers) {
  test(`no operation tells ${viewer} of a private document`, async () => {
    const headers = { accept: 'application/json, text/event-stream', ...(await headersOf(viewer)) };
    for (const [operation, probesOf] of Object.entries(table)) {
      const method = operation.split(' ', 1)[0]?.toUpperCase();
      for (const { path: at, body, status, adminStatus = status } of probesOf(viewer)) {
        const response = await sendRequest(`${chat.url}${at}`, { method, body, headers });
        const what = `${operation} ${at} ${JSON.stringify(body)}`;
        assert.equal(
          response.status,
          viewer === 'admin' ? adminStatus : status,
          `${what} ${response.text.slice(0, 300)}`,
        );
        assertNoTrace(response, viewer, what);
        const isListed = viewer === 'admin' && /^\w+ \/api\/documents(?:\/\{id\}\/reindex)?$/.test(operation);
        // The viewer asked for the file by its name, and titles of chats are what was asked.
        const isEcho = operation === 'get /api/sessions' || JSON.stringify([at, body]).includes(tagless);
        if (!isListed && !isEcho) assert.doesNotMatch(response.text, names, what);
        if (!isListed && status !== 404)
          assert.ok(!response.text.includes(id) && !response.text.includes(owner), what);
      }
    }
  });

  test(`sockets tell ${viewer} nothing of a private document`, async () => {
    const token = await tokenOf(viewer);
    const socket = io(chat.url, { auth: { token }, transports: ['websocket'], reconnection: false });
    try {
      const packets: unknown[] = [];
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.onAny((name, data) => {
        packets.push([name, data]);
        if (name === 'response_complete') resolve();
      });
      const asked = { query: question, request_id: turn, filters: { document_ids: [id] } };
      // The same id as the turn of Alice is another turn, or was used for another question by the viewer.
      const replayed = await socket.emitWithAck('chat_message', asked);
      assert.deepEqual([replayed.ok, replayed.error?.code], [false, 'duplicate']);
      assert.equal((await socket.emitWithAck('chat_message', { query: question, top_k: 20 })).ok, true);
      await promise;
      for (const message of ['join_session', 'leave_session'])
        packets.push([message, await socket.emitWithAck(message, { session_id: session })]);
      const joined = await socket.emitWithAck('join_session', { session_id: session });
      assert.deepEqual([joined.ok, joined.error.code], [false, 'not_found']);
      const inIt = await socket.emitWithAck('chat_message', { query: question, session_id: session });
      assert.deepEqual([inIt.ok, inIt.error.code], [false, 'not_found']);
      assertNoTrace({ text: JSON.stringify([packets, replayed, inIt]), status: 0 }, viewer, 'sockets');
    } finally {
      socket.disconnect();
    }
  });

  test(`no page tells ${viewer} of a private document`, async () => {
    const client = new PageClient(chat.url);
    provider.person = viewer;
    if (viewer !== 'stranger') assert.equal((await new Walker(client).signIn('/')).location, '/');
    const isAdmin = viewer === 'admin';
    const at = (route: string, key: string) => route.replace(':id', key);
    const opened: Record<string, readonly [path: string, status: number][]> = {
      home: [['/', 200]],
      signIn: [['/sign-in', 200]],
      account: [[pageRoutes.account, viewer === 'stranger' ? 303 : 200]],
      leave: [[pageRoutes.leave, viewer === 'stranger' ? 303 : 200]],
      settings: [[pageRoutes.settings, isAdmin ? 200 : 403]],
      chats: [
        ['/chats', 200],
        ['/chats?q=lighthouse', 200],
      ],
      chat: [[at(pageRoutes.chat, session), 404]],
      renameChat: [[at(pageRoutes.renameChat, session), 404]],
      deleteChat: [[at(pageRoutes.deleteChat, session), 404]],
      shareChat: [[at(pageRoutes.shareChat, session), 404]],
      shared: [[at(pageRoutes.shared, session), 404]],
      documents: [
        ['/documents', 200],
        ['/documents?q=zephyr', 200],
        ['/documents?q=wage', 200],
      ],
      document: [
        [at(pageRoutes.document, id), 404],
        [at(pageRoutes.document, chatId), 404],
      ],
      deleteDocument: [[at(pageRoutes.deleteDocument, id), isAdmin ? 200 : 404]],
    };
    const sent: Record<string, readonly [path: string, fields: Record<string, string>, status: number][]> = {
      ask: [[pageRoutes.ask, { query: question, within: `document:${id}` }, 303]],
      rate: [[at(pageRoutes.rate, message), { rating: 'up' }, 404]],
      shareDocument: [[at(pageRoutes.shareDocument, id), { visibility: 'everyone' }, isAdmin ? 403 : 404]],
      formerlyShared: isAdmin ? [] : [[pageRoutes.formerlyShared, { choice: 'share' }, 403]],
      signOut: [[pageRoutes.signOut, {}, viewer === 'stranger' ? 303 : 200]],
    };
    assert.deepEqual(Object.keys({ ...opened, ...sent }).toSorted(), Object.keys(pageRoutes).toSorted());
    for (const [target, status] of Object.values(opened).flat()) {
      const page = await client.open(target);
      assert.equal(page.status, status, `${target} ${page.html.slice(-600)}`);
      const html = page.html.replace(/value="[^"]*"/g, '');
      assertNoTrace({ text: html, status }, viewer, target);
      if (!isAdmin) assert.doesNotMatch(html, /cove-88/, target);
    }
    await client.open('/documents');
    for (const [target, fields, status] of Object.values(sent).flat()) {
      const page = await client.send(target, fields);
      assert.equal(page.status, status, `${target} ${page.html.slice(-600)}`);
      assertNoTrace({ text: page.html, status }, viewer, target);
      if (page.location)
        assertNoTrace({ text: (await client.open(page.location)).html, status }, viewer, page.location);
    }
  });
}

test('counts do not change with a private document, and the same file of somebody else is another one', async () => {
  const counts = async (viewer: Viewer) => {
    const headers = await headersOf(viewer);
    const { store } = (await chat.send('GET', '/api/system/info', undefined, headers)).json;
    const { total } = (await chat.send('GET', '/api/documents', undefined, headers)).json;
    return [store.documents, store.chunks, total];
  };
  assert.deepEqual(await counts('stranger'), [2, 2, 2], 'what strangers uploaded, and what is for everyone');
  assert.deepEqual(await counts('bob'), [1, 1, 1]);
  assert.deepEqual(await counts('admin'), [1, 1, 4], 'an administrator has the list, too');
  const metrics = (await chat.send('GET', '/metrics')).text;
  assert.match(metrics, /^chat_documents(?:\{[^}]*\})? 4$/m);
  assert.match(metrics, /^chat_documents_everyone(?:\{[^}]*\})? 1$/m);
  assert.match(metrics, /^chat_documents_failed(?:\{[^}]*\})? 0$/m);
  for (const viewer of ['stranger', 'bob'] as const) {
    const headers = await headersOf(viewer);
    const same = await chat.upload([file], { on_duplicate: 'error' }, headers);
    const [document] = same.json.documents;
    assert.deepEqual([same.status, document.status, document.warnings], [201, 'indexed', []]);
    assert.notEqual(document.document_id, id);
    const gone = await chat.send('DELETE', `/api/documents/${document.document_id}`, undefined, headers);
    assert.equal(gone.status, 204);
  }
});

test('an administrator sees owner, name and size of a private document, and may delete it', async () => {
  const headers = await headersOf('admin');
  const { documents } = (await chat.send('GET', '/api/documents', undefined, headers)).json;
  const listed = documents.find(({ document_id }: { document_id: string }) => document_id === id);
  const { size, created_at: _time, ...rest } = listed;
  assert.equal(size, Buffer.byteLength(content));
  assert.deepEqual(rest, {
    document_id: id,
    filename: file.name,
    title: file.name,
    media_type: 'text/markdown',
    sha256: '',
    status: 'indexed',
    error: null,
    chunks: 0,
    pages: null,
    tags: [],
    warnings: [],
    reader_version: 0,
    session_id: null,
    visibility: 'private',
    mine: false,
    owner,
  });
  const found = async (q: string) =>
    (await chat.send('GET', `/api/documents?q=${q}`, undefined, headers)).json.total;
  assert.deepEqual([await found('payslip'), await found('wages')], [1, 0], 'by its name, not by its title');
  assert.equal((await chat.send('DELETE', path, undefined, headers)).status, 204);
  assert.equal((await chat.send('GET', path, undefined, await headersOf('alice'))).status, 404);
});
