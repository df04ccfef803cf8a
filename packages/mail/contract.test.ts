import assert from 'node:assert/strict';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { newId } from '@octavo/core';
import { testFolder } from '@octavo/testing';
import { startSmtpSink } from '@octavo/testing/engines';
import PostalMime from 'postal-mime';
import {
  type Dkim,
  listSavedMails,
  type Mail,
  MailError,
  type Mailer,
  openFolderMailer,
  openSmtpMailer,
} from './index.ts';
import { testKey, verifyDkim } from './testing-dkim.ts';

/** A mailer, and the mails that arrived, by Message-ID. */
interface Post {
  readonly mailer: Mailer;
  readonly signing: Mailer;
  sources(): Promise<Buffer[]>;
}

const key = testKey();
const dkim: Dkim = { domain: 'example.org', selector: 's1', privateKey: key.privateKey };

const adapters: Readonly<Record<string, () => Promise<Post>>> = {
  'a folder': async () => {
    const folder = testFolder('mail');
    return {
      mailer: openFolderMailer({ folder }),
      signing: openFolderMailer({ folder, dkim }),
      sources: async () => {
        const names = (await readdir(folder)).sort();
        return Promise.all(names.map((name) => readFile(join(folder, name))));
      },
    };
  },
  SMTP: async () => {
    const sink = await startSmtpSink();
    after(() => sink[Symbol.asyncDispose]());
    const server = { host: '127.0.0.1', port: sink.port };
    return {
      mailer: await openSmtpMailer(server),
      signing: await openSmtpMailer({ ...server, dkim }),
      sources: async () => sink.caught.map(({ source }) => source),
    };
  },
};

for (const [name, open] of Object.entries(adapters)) {
  describe(`mail by ${name}`, async () => {
    const post = await open();
    after(() => post.mailer[Symbol.asyncDispose]());
    after(() => post.signing[Symbol.asyncDispose]());
    const find = async (mail: Mail) => {
      const sources = await post.sources();
      const source = sources.findLast((candidate) => candidate.includes(`<${mail.id}>`));
      return source && { source, parsed: await PostalMime.parse(source) };
    };

    test('arrives as it was written', async () => {
      const mail = newMail({
        subject: 'Sign in to Größe & Söhne',
        text: `Ein Wort\n.\n..zwei\n\nhttps://example.org/verify?token=${'x'.repeat(120)}\n`,
      });
      assert.notEqual(await post.mailer.send(mail), '');
      const { parsed, source } = (await find(mail)) ?? {};
      assert.equal(parsed?.subject, mail.subject);
      assert.equal(parsed?.text?.trimEnd(), mail.text.trimEnd());
      assert.equal(parsed?.html?.trimEnd(), mail.html);
      assert.deepEqual(parsed?.from, { name: 'Octavo, Ltd', address: 'no-reply@example.org' });
      assert.deepEqual(parsed?.to, [{ name: '', address: mail.to }]);
      assert.equal(new Date(parsed?.date ?? '').getTime(), mail.date.getTime());
      assert.equal(parsed?.messageId, `<${mail.id}>`);
      const lines = source?.toString('latin1').split('\r\n') ?? [];
      assert.ok(lines.every((line) => line.length <= 998 && !line.includes('\n')));
    });

    test('says that a program wrote it, and nothing of the program', async () => {
      const mail = newMail();
      await post.mailer.send(mail);
      const { parsed } = (await find(mail)) ?? {};
      const headers = Object.fromEntries(parsed?.headers.map(({ key, value }) => [key, value]) ?? []);
      assert.equal(headers['auto-submitted'], 'auto-generated');
      assert.equal(headers['x-auto-response-suppress'], 'All');
      assert.equal(headers['x-mailer'], undefined);
    });

    test('has the same Message-ID when it is sent again', async () => {
      const mail = newMail();
      await post.mailer.send(mail);
      await post.mailer.send(mail);
      const { parsed } = (await find(mail)) ?? {};
      assert.equal(parsed?.messageId, `<${mail.id}>`);
    });

    test('is not sent if a header would contain more than it should', async () => {
      const before = (await post.sources()).length;
      const victims = [
        { to: 'bob@example.org\r\nBcc: evil@example.org' },
        { to: 'bob@example.org\nBcc: evil@example.org' },
        { to: 'bob@example.org, evil@example.org' },
        { to: 'bob@example.org evil@example.org' },
        { to: '<evil@example.org> bob@example.org' },
        { to: 'Bob <evil@example.org>' },
        { to: '"evil@example.org" bob@example.org' },
        { to: 'evil@example.org(bob@example.org)' },
        { to: 'group:evil@example.org;' },
        { to: 'bob@example.org\0' },
        { to: '' },
        { subject: 'Hello\r\nBcc: evil@example.org' },
        { subject: 'Hello\nX: y' },
        { id: 'a@b>\r\nBcc: evil@example.org' },
        { id: '../../etc/passwd' },
        { id: 'a/b@example.org' },
      ];
      for (const part of victims) {
        await assert.rejects(post.mailer.send(newMail(part)), withFault('rejected'), JSON.stringify(part));
      }
      assert.equal((await post.sources()).length, before);
    });

    test('goes to its one recipient, whatever the text says', async () => {
      const mail = newMail({
        text: 'To: evil@example.org\r\n\r\n.\r\nRCPT TO:<evil@example.org>\r\nQUIT\r\n',
      });
      const before = (await post.sources()).length;
      await post.mailer.send(mail);
      const { parsed } = (await find(mail)) ?? {};
      assert.deepEqual(parsed?.to, [{ name: '', address: mail.to }]);
      assert.equal(
        parsed?.text?.replaceAll('\r\n', '\n').trimEnd(),
        mail.text.replaceAll('\r\n', '\n').trimEnd(),
      );
      assert.equal((await post.sources()).length, before + 1);
    });

    test('is signed if there is a key', async () => {
      const mail = newMail({ text: 'Ein  Wort \n\n\n' });
      await post.signing.send(mail);
      const { source } = (await find(mail)) ?? {};
      assert.ok(source);
      assert.equal(verifyDkim(source, key.publicKey), 'example.org s1');
      assert.throws(() => verifyDkim(changed(source, 'Subject: S', 'Subject: T'), key.publicKey));
      assert.throws(() => verifyDkim(changed(source, 'Wort', 'Wert'), key.publicKey));
    });

    test('can be sent many at once', async () => {
      const mails = Array.from({ length: 40 }, () => newMail());
      await Promise.all(mails.map((mail) => post.mailer.send(mail)));
      const all = Buffer.concat(await post.sources());
      for (const { id } of mails) assert.ok(all.includes(`<${id}>`));
    });

    test('can be sent now, says ping', async () => {
      await post.mailer.ping();
    });

    test('is rejected after closing', async () => {
      const { mailer } = await open();
      await mailer.close();
      await assert.rejects(mailer.send(newMail()), withFault('unreachable'));
      await mailer[Symbol.asyncDispose]();
    });
  });
}

test('mails of a folder are listed newest first', async () => {
  const folder = testFolder('mail');
  assert.deepEqual(await listSavedMails(join(folder, 'nowhere')), []);
  await using mailer = openFolderMailer({ folder });
  const mails = [
    newMail({ subject: 'First' }),
    newMail({ subject: 'Second' }),
    newMail({ subject: 'Third' }),
  ];
  for (const mail of mails) await mailer.send(mail);
  const listed = await listSavedMails(folder, 2);
  assert.deepEqual(
    listed.map(({ id, subject, to, text }) => ({ id, subject, to, text })),
    mails
      .slice(1)
      .reverse()
      .map(({ id, subject, to, text }) => ({ id, subject, to, text })),
  );
});

function newMail(part: Partial<Mail> = {}): Mail {
  return {
    id: `${newId()}@example.org`,
    from: { name: 'Octavo, Ltd', address: 'no-reply@example.org' },
    to: 'bob@example.org',
    subject: 'Sign in',
    text: 'https://example.org/',
    html: '<p>größer &amp; kleiner</p>',
    date: new Date('2026-03-01T10:00:00Z'),
    ...part,
  };
}

function changed(source: Buffer, from: string, to: string): Buffer {
  assert.ok(source.includes(from));
  return Buffer.from(source.toString('latin1').replace(from, to), 'latin1');
}

function withFault(fault: string): (error: unknown) => boolean {
  return (error) => error instanceof MailError && error.fault === fault;
}

test('an e-mail that a crash left unfinished is hidden, and deleted by the next process', async () => {
  const folder = testFolder('mail');
  const drafts = () => readdir(folder).then((names) => names.filter((name) => name.endsWith('.draft')));
  for (const name of ['.old.draft', '.new.draft']) await writeFile(join(folder, name), 'From: half an e-');
  await utimes(join(folder, '.old.draft'), 0, 0);
  await using mailer = openFolderMailer({ folder });
  await mailer.send(newMail({}));
  assert.deepEqual(await drafts(), ['.new.draft']);
  assert.equal((await listSavedMails(folder)).length, 1);
});
