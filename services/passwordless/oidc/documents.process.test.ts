import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentShell } from '../../../proof/document-shell.ts';
import { read } from '../../../proof/documents.ts';
import { startService } from '../testing.ts';

const document = 'services/passwordless/docs/openid.md';

test('the five lines of the document add an application, and roles are granted and revoked', async (t) => {
  const service = await startService(t, { databaseUrl: undefined });
  await service.signIn('ada@example.com');
  const [, block = ''] = /^```bash\n(npx octavo clients add[\s\S]*?)^```$/m.exec(read(document)) ?? [];
  assert.equal(block.trim().split('\n').length, 5);
  const shell = new DocumentShell();
  const { code, output } = await shell.run(block, {
    replace: [['localhost:3003', new URL(service.url).host]],
    environment: { OCTAVO_DATA: service.dataFolder },
  });
  assert.equal(code, 0, output);
  assert.match(output, /client_id: +my-app\nclient_secret: [\w-]{43}\n/);
  assert.match(output, /"issuer":"http/);
  assert.match(output, /"kty":"EC"/);
  assert.match(output, /my-app {2}My App {2}third-party {2}http:\/\/127\.0\.0\.1:9000\/callback/);
  const more = await shell.run(
    [
      'npx octavo roles grant ada@example.com editor --service my-app',
      'npx octavo roles list',
      'npx octavo roles revoke ada@example.com editor --service "My App"',
      'npx octavo roles list',
      'npx octavo clients remove my-app',
      'npx octavo clients list',
      'npx octavo clients add "My App" || echo refused',
      'npx octavo roles grant nobody@example.com admin || echo refused',
    ].join('\n'),
    { environment: { OCTAVO_DATA: service.dataFolder } },
  );
  assert.equal(more.code, 0, more.output);
  assert.match(more.output, /ada@example\.com {2}editor {2}my-app/);
  assert.match(more.output, /no roles/);
  assert.match(more.output, /no applications/);
  assert.match(more.output, /redirects is required/);
  assert.match(more.output, /The address nobody@example\.com has no owner/);
});
