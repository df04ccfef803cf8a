import assert from 'node:assert/strict';
import { ask, unique } from './requests.ts';
import type { Workload } from './traffic.ts';

export const chat: Workload = {
  service: 'chat',
  environment: {
    CHAT_SECRET: 'a secret of all replicas, long enough',
    CHAT_RATE_LIMIT: '0',
    UPLOAD_RATE_LIMIT: '0',
    SESSION_RATE_LIMIT: '0',
    READ_RATE_LIMIT: '0',
    CHAT_GENERATIONS_MAX: '0',
  },
  begin: async () => async (at) => {
    const name = unique('harbor');
    const text = `The ferry ${name} leaves at noon. It carries ninety people and four cars.`;
    const form = new FormData();
    form.append('file', new Blob([text]), `${name}.txt`);
    form.append('wait', 'true');
    const uploaded = (await ask(at.one, '/api/upload', { body: form, is: 201 })).json;
    const [document] = (await ask(at.other, `/api/documents?q=${name}`)).json.documents;
    assert.equal(document?.status, 'indexed', JSON.stringify([uploaded, document]));
    const search = { body: { query: `When does the ferry ${name} leave?` } };
    const [passage] = (await ask(at.other, '/api/search', search)).json.results;
    assert.match(JSON.stringify(passage), new RegExp(name));
    const session = (await ask(at.one, '/api/session', { body: {}, is: 201 })).json.session_id;
    for (const url of [at.other, at.one]) {
      const question = { ...search.body, session_id: session, request_id: unique('request') };
      const { json } = await ask(url, '/api/chat', { body: question });
      assert.equal(typeof json.answer, 'string');
    }
    const { messages } = (await ask(at.other, `/api/session/${session}`)).json;
    assert.equal(messages.length, 4);
    await ask(at.other, `/api/session/${session}`, { method: 'DELETE', is: 204 });
    await ask(at.one, `/api/documents/${document.document_id}`, { method: 'DELETE', is: 204 });
    await ask(at.other, `/api/documents/${document.document_id}`, { is: 404 });
  },
};
