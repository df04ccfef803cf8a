import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AppError } from '@octavo/core';
import { testFolder } from '@octavo/testing';
import { startSmtpSink } from '@octavo/testing/engines';
import { startService, type World } from '../testing.ts';

const world: World = { databaseUrl: undefined };

describe('mails that are requested over HTTP', () => {
  test('go only to the given address', async (t) => {
    await using sink = await startSmtpSink();
    const { port } = sink;
    const service = await startService(t, world, {
      environment: {
        PASSWORDLESS_WORKER: 'on',
        PASSWORDLESS_SMTP_HOST: '127.0.0.1',
        PASSWORDLESS_SMTP_PORT: String(port),
      },
    });
    const attacks = [
      'bob@example.com\r\nBcc: evil@example.com',
      'bob@example.com\nBcc: evil@example.com',
      'bob@example.com%0d%0aBcc: evil@example.com',
      'bob@example.com,evil@example.com',
      'bob@example.com;evil@example.com',
      'bob@example.com evil@example.com',
      '"bob@example.com" <evil@example.com>',
      '<evil@example.com>bob@example.com',
      'evil@example.com(bob@example.com)',
      'bob@example.com\0',
      'bob@example.com\u2028evil@example.com',
      { to: 'evil@example.com' },
      ['bob@example.com', 'evil@example.com'],
    ];
    for (const email of attacks) {
      const response = await service.post('/request/magic', { email });
      assert.equal(response.status, 200, response.text);
    }
    // White space and case do not make a different address.
    await service.post('/request/magic', { email: ' Bob@Example.com\r\n' });
    await sink.hasCaught(1);
    await service.post('/request/magic', { email: 'charlie@example.com' });
    await sink.hasCaught(2);
    assert.deepEqual(
      sink.caught.map(({ to }) => to),
      [['bob@example.com'], ['charlie@example.com']],
    );
    for (const { source } of sink.caught) assert.ok(!source.includes('evil@'));
  });

  test('leave no live link in the database or the log', async (t) => {
    const service = await startService(t, world);
    const { token } = await service.requestLink('bob@example.com');
    assert.notEqual(token, '');
    for (const name of await readdir(service.dataFolder)) {
      const content = await readFile(join(service.dataFolder, name));
      assert.ok(!content.includes(token), `${name} holds the token`);
    }
    assert.ok(!JSON.stringify(service.lines).includes(token));
  });

  test('wait for another process if this one does not send them', async (t) => {
    await using sink = await startSmtpSink();
    const service = await startService(t, world, {
      environment: { PASSWORDLESS_SMTP_HOST: '127.0.0.1', PASSWORDLESS_SMTP_PORT: String(sink.port) },
    });
    await service.requestLink('bob@example.com');
    const { integrations } = (await service.get('/readiness')).json;
    assert.match(integrations.mail_worker, /^failing: no e-mail worker has been alive/);
    const figure = async (name: string) =>
      new RegExp(`^${name} (.*)$`, 'm').exec((await service.get('/metrics')).text)?.[1];
    assert.equal(await figure('passwordless_mail_queue_depth'), '1');
    service.clock.advance(90_000);
    assert.equal(await figure('passwordless_mail_oldest_age_seconds'), '90');
    assert.equal(sink.connections, 0);
  });

  test('are otherwise sent by the web process, and readiness says so', async (t) => {
    await using sink = await startSmtpSink();
    const service = await startService(t, world, {
      environment: {
        PASSWORDLESS_WORKER: 'on',
        PASSWORDLESS_SMTP_HOST: '127.0.0.1',
        PASSWORDLESS_SMTP_PORT: String(sink.port),
      },
    });
    assert.deepEqual((await service.get('/readiness')).json.integrations, { mail_worker: 'ok' });
    await service.post('/request/magic', { email: 'bob@example.com' });
    await sink.hasCaught(1);
    const source = String(sink.caught[0]?.source);
    assert.match(source, /^Subject: Sign in to Octavo\r$/m);
    assert.match(source, /^Auto-Submitted: auto-generated\r$/m);
  });
});

describe('the templates of mails', () => {
  test('are the operator’s, in the language of the request, else the shipped ones', async (t) => {
    const folder = await templates({
      'de/magic-link.txt':
        'Subject: Anmelden bei {{service}}\n\nHier entlang:\n\n{{link}}\n\nCode: {{code}}\n',
      'en/magic-link.html': '<p>Ours: {{service}} <a href="{{link}}">in</a></p>',
    });
    const environment = {
      PASSWORDLESS_MAIL_TEMPLATES: folder,
      PASSWORDLESS_WEBAUTHN_RP_NAME: 'Größe <& Co>',
    };
    const service = await startService(t, world, { environment });
    const ask = async (language: string) => {
      const headers = { 'accept-language': language };
      await service.call('POST', '/request/magic', { body: { email: 'bob@example.com' }, headers });
      service.clock.advance(1);
      return (await service.mails()).at(-1);
    };
    for (const language of ['de-AT, en;q=0.5', 'fr, de;q=0.9, en;q=0.8', 'DE']) {
      const mail = await ask(language);
      assert.equal(mail?.subject, 'Anmelden bei Größe <& Co>', language);
      assert.match(mail?.text ?? '', /^Hier entlang:\n\nhttp:\S+\n\nCode: \d{6}\n$/);
      assert.match(mail?.html ?? '', /^<p>Ours: Größe &lt;&amp; Co&gt; <a href="http:/);
    }
    for (const language of ['fr', '', 'en-GB', 'de;q=0', '../de', 'x'.repeat(5_000)]) {
      assert.equal((await ask(language))?.subject, 'Sign in to Größe <& Co>', language);
    }
  });

  test('always say that a signed-in user asked for a link, also if they have no place for it', async (t) => {
    const folder = await templates({
      'en/magic-link.txt': 'Subject: Hello\n\n{{link}}\n',
      'en/magic-link.html': '<p>{{link}}</p>',
    });
    const service = await startService(t, world, { environment: { PASSWORDLESS_MAIL_TEMPLATES: folder } });
    const { access_token: token } = await service.signIn('bob@example.com');
    const [first] = await service.mails();
    assert.doesNotMatch(`${first?.text}${first?.html}`, /signed in/);
    service.clock.advance(1);
    await service.post('/request/magic', { email: 'bob@example.com' }, token);
    const mail = (await service.mails()).at(-1);
    assert.match(mail?.text ?? '', /^http\S+\n\nA person who is signed in .+\n$/);
    assert.match(mail?.html ?? '', /^<p>http[^<]+<\/p>\s*<p>A person who is signed in [^<]+<\/p>$/);
  });

  test('prevent the start if they have a mistake', async (t) => {
    const mistakes: Record<string, [file: string, content: string, problem: RegExp]> = {
      'no subject': ['en/magic-link.txt', '{{link}}\n', /must start with "Subject/],
      'an unknown word': [
        'en/security.html',
        '<p>{{password}}</p>',
        /uses \{\{password\}\}; known are service/,
      ],
      'no link': ['fr/magic-link.txt', 'Subject: x\n\nnothing\n', /must hold \{\{link\}\}/],
    };
    for (const [, [file, content, problem]] of Object.entries(mistakes)) {
      const environment = { PASSWORDLESS_MAIL_TEMPLATES: await templates({ [file]: content }) };
      await assert.rejects(
        startService(t, world, { environment }),
        refusal('PASSWORDLESS_MAIL_TEMPLATES', problem),
      );
    }
    const environment = { PASSWORDLESS_MAIL_TEMPLATES: '/nowhere' };
    await assert.rejects(
      startService(t, world, { environment }),
      refusal('PASSWORDLESS_MAIL_TEMPLATES', /ENOENT/),
    );
  });
});

describe('invalid settings for mails', () => {
  const on = { PASSWORDLESS_WORKER: 'on' };
  const server = { ...on, PASSWORDLESS_SMTP_HOST: '127.0.0.1' };
  const cases: [name: string, environment: Record<string, string>, setting: string, problem: RegExp][] = [
    [
      'a sender of two lines',
      { PASSWORDLESS_EMAIL_FROM: 'A <a@b.c>\nBcc: evil@b.c' },
      'PASSWORDLESS_EMAIL_FROM',
      /must be/,
    ],
    [
      'a sender without an address',
      { PASSWORDLESS_EMAIL_FROM: 'Octavo' },
      'PASSWORDLESS_EMAIL_FROM',
      /must be/,
    ],
    [
      'a name without a password',
      { ...server, PASSWORDLESS_SMTP_USERNAME: 'x' },
      'PASSWORDLESS_SMTP_PASSWORD',
      /required/,
    ],
    [
      'a password without a name',
      { ...server, PASSWORDLESS_SMTP_PASSWORD: 'x' },
      'PASSWORDLESS_SMTP_USERNAME',
      /required/,
    ],
    [
      'half of DKIM',
      { ...on, PASSWORDLESS_DKIM_DOMAIN: 'example.org' },
      'PASSWORDLESS_DKIM_SELECTOR',
      /required/,
    ],
    [
      'a DKIM key that is none',
      {
        ...on,
        PASSWORDLESS_DKIM_DOMAIN: 'example.org',
        PASSWORDLESS_DKIM_SELECTOR: 's1',
        PASSWORDLESS_DKIM_PRIVATE_KEY_FILE: import.meta.filename,
      },
      'PASSWORDLESS_DKIM_PRIVATE_KEY_FILE',
      /not a private RSA key/,
    ],
    [
      'certificates that are not there',
      { ...server, PASSWORDLESS_SMTP_CA_FILE: '/nowhere' },
      'PASSWORDLESS_SMTP_CA_FILE',
      /ENOENT/,
    ],
  ];
  for (const [name, environment, setting, problem] of cases) {
    test(`${name}: refused with its name`, async (t) => {
      await assert.rejects(startService(t, world, { environment }), refusal(setting, problem));
    });
  }

  test('no mail server in production: refused if this process sends mails', async (t) => {
    const nodeEnv = 'production';
    const refused = startService(t, world, { environment: on, nodeEnv });
    await assert.rejects(refused, refusal('PASSWORDLESS_SMTP_HOST', /NODE_ENV=production/));
    await startService(t, world, { nodeEnv });
  });
});

async function templates(files: Record<string, string>): Promise<string> {
  const folder = testFolder('templates');
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), content);
  }
  return folder;
}

function refusal(setting: string, problem: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof AppError && error.reason === 'CONFIG', String(error));
    assert.match(error.fields[setting] ?? '', problem);
    return true;
  };
}
