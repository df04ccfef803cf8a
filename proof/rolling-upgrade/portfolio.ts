import assert from 'node:assert/strict';
import { fieldsOf } from '@octavo/admin/testing';
import { PageClient } from '@octavo/testing';
import { ask, atReplica, password, unique } from './requests.ts';
import type { Workload } from './traffic.ts';

export const portfolio: Workload = {
  service: 'portfolio',
  environment: {
    PORTFOLIO_JWT_SECRET: 'a secret of all replicas, long enough',
    PORTFOLIO_TOKEN_RATE_LIMIT: '0',
  },
  commands: [
    ['seed', 'portfolio'],
    ['admin', 'create', 'portfolio', 'alice'],
  ],
  async begin(url) {
    const staff = new PageClient(url);
    await staff.open('/admin/login/');
    assert.equal((await staff.send('/admin/login/', { username: 'alice', password })).status, 303);
    return async (at) => {
      const { token } = (await ask(at.one, '/auth/token')).json;
      const headers = { authorization: `Bearer ${token}` };
      for (const path of ['/api/team', '/api/investments', '/api/sectors'])
        assert.ok((await ask(at.other, path, { headers })).json.length > 0);
      const name = unique('Zoe').toLowerCase();
      const form = '/admin/portfolio/team/add/';
      const editor = atReplica(staff, at.one);
      const { html } = await editor.open(form);
      const added = await atReplica(editor, at.other).send(form, { ...fieldsOf(html), name });
      assert.equal(added.status, 303, added.html);
      const people = (await ask(at.one, `/api/team?name=${name}`, { headers })).json;
      const found = people.find((person: { name: string }) => person.name === name);
      assert.ok(found, JSON.stringify(people));
      await ask(at.other, `/api/team/${found.id}/investments`, { headers });
    };
  },
};
