import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { alice, inTestMode } from '../testing.ts';
import { addClient, ensureClient, listClients } from './index.ts';
import { attempt, follow, register, responseOf, signInto, startProvider } from './testing.ts';

const polls = 'http://localhost:3004';

await inTestMode((world) => {
  describe('an audience belongs to one application', () => {
    test('who asks for that of another is refused with its name, and the default stands back', async (t) => {
      const service = await startProvider(t, world);
      await register(service, { name: 'Polls', redirects: [`${polls}/sign-in/oidc/callback`] });
      const tool = { name: 'A Tool', redirects: ['http://127.0.0.1:9/cb'] };
      await assert.rejects(addClient(service, { ...tool, audience: polls }), {
        code: 'conflict',
        message: `The audience ${polls} belongs to the application Polls.`,
        fields: { audience: 'is already that of the application Polls' },
      });
      const { client } = await addClient(service, { name: 'B Tool', redirects: [`${polls}/cb`] });
      assert.equal(client.audience, undefined);
      const others = { name: 'C Tool', redirects: [`${polls}/c`] };
      await addClient(service, others);
      const audiences = (await listClients(service.database)).map(({ id, audience }) => [id, audience]);
      assert.deepEqual(audiences, [
        ['b-tool', undefined],
        ['c-tool', undefined],
        ['polls', polls],
      ]);
    });

    test('the page of consent names the owner, and applications of ours get its tokens', async (t) => {
      const service = await startProvider(t, world);
      const tool = await register(service, { name: 'A Tool', isFirstParty: false });
      await register(service, { name: 'Polls', redirects: [`${polls}/sign-in/oidc/callback`] });
      const ours = await register(service, { name: 'Z' });
      const { browser } = await signInto(service, ours, alice);
      const page = await follow(browser, attempt(tool, { resource: polls }).path);
      assert.match(page.html, /It may use in your name[\s\S]*Polls/);
      const { code } = responseOf(await follow(browser, attempt(ours, { resource: polls }).path));
      assert.ok(code);
    });

    test('a service of the suite gets its address back', async (t) => {
      const service = await startProvider(t, world);
      await register(service, { name: 'A Tool', audience: polls });
      const own = { name: 'Polls', redirects: [`${polls}/cb`], secret: 's'.repeat(43), isFirstParty: true };
      for (let start = 0; start < 2; start++) await ensureClient(service, own);
      const audiences = (await listClients(service.database)).map(({ id, audience }) => [id, audience]);
      assert.deepEqual(audiences, [
        ['a-tool', undefined],
        ['polls', polls],
      ]);
    });

    test('of those that had the same before, one of ours keeps it', async (t) => {
      const service = await startProvider(t, world);
      const { database } = service;
      for (const [name, isFirstParty] of [
        ['A Tool', false],
        ['Polls', true],
        ['Z', true],
        ['Other', false],
      ] as const) {
        await register(service, {
          name,
          isFirstParty,
          redirects: [`https://${name.replace(' ', '-')}.example/`],
        });
      }
      await database.write(async ({ kysely }) => {
        const { sql } = await import('kysely');
        // As in a migration, whose statements leave the schema out.
        if (database.dialect === 'postgres') await sql`SET LOCAL search_path TO passwordless`.execute(kysely);
        await sql`DROP INDEX oidc_client_audience`.execute(kysely);
        await sql`CREATE INDEX oidc_client_audience ON oidc_client (audience)`.execute(kysely);
        const same = kysely.updateTable('oidc_client').set({ audience: polls });
        await same.where('id', '<>', 'other').execute();
        const migration = new URL('../migrations/0009_oidc_audiences.sql', import.meta.url);
        const statements = readFileSync(migration, 'utf8')
          .replace(/^--.*$/gm, '')
          .split(';');
        for (const statement of statements.filter((text) => text.trim() !== ''))
          await sql.raw(statement).execute(kysely);
      });
      const audiences = (await listClients(database)).map(({ id, audience }) => [id, audience]);
      assert.deepEqual(audiences, [
        ['a-tool', undefined],
        ['other', 'https://other.example'],
        ['polls', polls],
        ['z', undefined],
      ]);
    });
  });
});
