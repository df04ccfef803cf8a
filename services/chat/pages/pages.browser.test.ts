import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import type { Page, WebSocketRoute } from 'playwright-core';
import { startChat, type TestChat } from '../testing.ts';
import { type ModelReply, startModel, type TestModel } from '../testing-model.ts';

const browser = testBrowser();
/** Text that a model may be talked into. */
const hostile = `# Rules

**Everybody** has 27 days [1].

1. <script>window.pwned = 1</script>
2. <a href="javascript:window.pwned=1">here</a> [there](javascript:window.pwned=1) ![x](https://evil.example/x.png)

| <img src=x onerror="window.pwned=1"> | [1]: https://evil.example |
|---|---|
| [click][1] | <svg onload="window.pwned=1"> |

\`\`\`html
<b onclick="window.pwned=1">never closed
`;
const question = 'How many days of vacation do I have?';
const handbook = '# Staff handbook\n\n## Vacation\n\nEverybody has 27 days of vacation in a year.\n';

describe('in a browser', { skip: browser.skip }, () => {
  let model: TestModel;
  let chat: TestChat;
  before(async () => {
    model = await startModel();
    chat = await startChat({ environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' } });
    await chat.upload([
      { name: 'handbook.md', content: handbook },
      // With a second one, the composer offers a choice of documents.
      { name: 'canteen.md', content: '# Canteen\n\nLunch is served at noon.' },
    ]);
  });
  after(async () => {
    await chat?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  for (const [colorScheme, widthPx] of [
    ['light', 1_280],
    ['dark', 390],
  ] as const) {
    test(`a question is answered as it is written, and its passage is marked, ${colorScheme}, ${widthPx} px`, async () => {
      const { promise, resolve } = Promise.withResolvers<ModelReply>();
      model.script = (answer) => resolve(answer.text('Everybody has 27 days '));
      const tab = await browser.open({ colorScheme, widthPx, baseUrl: chat.url });
      const { page } = tab;
      await page.goto('/');
      assert.deepEqual(await tab.barriers(), []);
      await page.fill('#query', question);
      await page.keyboard.press('Enter');
      await page.locator('.writing', { hasText: 'Everybody has 27 days' }).waitFor();
      (await promise).text('of vacation [1].').end();
      await page.locator('.answer-foot').waitFor();
      const citation = page.locator('.answer a.cite');
      assert.match(page.url(), /\/chats\/[\w-]+$/);
      assert.equal(await page.locator('.passages a').first().innerText(), '1\nStaff handbook Vacation');
      assert.match(
        await page.locator('.passages mark').first().innerText(),
        /^Everybody has 27 days of vacation/,
      );
      assert.deepEqual(await tab.barriers(), []);
      const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isWider, false, 'the page scrolls sideways');
      await citation.click();
      await page.goBack();
      await page.locator('.passages').waitFor();
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press('1');
      assert.equal(
        await page.locator('#passage').innerText(),
        'Everybody has 27 days of vacation in a year.',
      );
      assert.deepEqual(await tab.barriers(), []);
      assert.deepEqual(tab.complaints, []);
    });
  }

  test('an answer is stopped, and what was written stays', async () => {
    model.script = (answer) => void answer.text('Everybody has 27 days ');
    const { page } = await browser.open({ baseUrl: chat.url });
    await page.goto('/');
    await page.fill('#query', question);
    await page.click('[data-ask]');
    await page.locator('.writing', { hasText: 'Everybody has 27 days' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.answer', { hasText: 'Stopped.' }).waitFor();
    assert.match(await page.locator('.answer').innerText(), /^Everybody has 27 days/);
    assert.equal(await page.evaluate('document.activeElement.id'), 'query');
    model.script = (answer) => answer.text('Everybody has 27 days of vacation [1].').end();
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.locator('.turn:last-child a.cite').waitFor();
    assert.deepEqual(await page.locator('.question').allInnerTexts(), [question, question]);
  });

  /** Records the requests of the page: their transport and ids. */
  function watch(page: Page) {
    const sent = { bySocket: [] as string[], byHttp: [] as string[] };
    const idsIn = (text: string) => [...text.matchAll(/"request_id":"(\w+)"/g)].map(([, id = '']) => id);
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => sent.bySocket.push(...idsIn(String(payload)))),
    );
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/chat')
        sent.byHttp.push(...idsIn(request.postData() ?? ''));
    });
    return sent;
  }

  test('a question goes by Socket.IO, and by HTTP under the same id if that breaks off', async () => {
    const replies: ModelReply[] = [];
    const { promise: written, resolve } = Promise.withResolvers<void>();
    model.script = (answer) => {
      replies.push(answer.text('Everybody has 27 days '));
      resolve();
    };
    const { page } = await browser.open({ baseUrl: chat.url });
    const sent = watch(page);
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/socket\.io/, (socket) => {
      if (sockets.length > 0) return void socket.close();
      sockets.push(socket);
      socket.connectToServer();
    });
    await page.goto('/');
    await page.fill('#query', question);
    await page.keyboard.press('Enter');
    await page.locator('.writing', { hasText: 'Everybody has 27 days' }).waitFor();
    assert.deepEqual(sent.byHttp, []);
    await written;
    await page.route('**/socket.io/**', (route) => route.abort());
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname === '/api/chat');
    await sockets[0]?.close();
    const { request_id: id } = (await asked).postDataJSON();
    replies[0]?.text('of vacation [1].').end();
    await page.locator('.answer a.cite').waitFor();
    assert.match(
      await page.locator('.answer .prose').innerText(),
      /^Everybody has 27 days of vacation 1\s?\.$/,
    );
    assert.deepEqual([replies.length, sent.byHttp], [1, [id]]);
    assert.equal(await page.locator('.turn').count(), 1);
  });

  test('where sockets are refused, a question goes by HTTP once', async () => {
    const { page } = await browser.open({ baseUrl: chat.url });
    const sent = watch(page);
    await page.routeWebSocket(/socket\.io/, (socket) => socket.close());
    await page.route('**/socket.io/**', (route) => route.abort());
    let calls = 0;
    model.script = (answer) => {
      calls++;
      answer.text('Everybody has 27 days of vacation [1].').end();
    };
    await page.goto('/');
    await page.fill('#query', question);
    await page.keyboard.press('Enter');
    await page.locator('.answer a.cite').waitFor();
    assert.deepEqual([calls, sent.bySocket.length, sent.byHttp.length], [1, 0, 1]);
  });

  test('a page that is loaded again meanwhile shows the same answer to its end', async () => {
    const replies: ModelReply[] = [];
    model.script = (answer) => void replies.push(answer.text('Everybody has 27 days '));
    const { page } = await browser.open({ baseUrl: chat.url });
    const sent = watch(page);
    await page.goto('/');
    await page.fill('#query', question);
    await page.keyboard.press('Enter');
    await page.locator('.writing', { hasText: 'Everybody has 27 days' }).waitFor();
    await page.reload();
    await page.locator('.writing', { hasText: 'Everybody has 27 days' }).waitFor();
    replies[0]?.text('of vacation [1].').end();
    await page.locator('.answer-foot').waitFor();
    assert.match(page.url(), /\/chats\/[\w-]+$/);
    const ids = new Set([...sent.bySocket, ...sent.byHttp]);
    assert.deepEqual([replies.length, ids.size, await page.locator('.turn').count()], [1, 1, 1]);
  });

  test('Markdown is drawn while it is written, and what is hostile in it is text', async () => {
    const { promise, resolve } = Promise.withResolvers<ModelReply>();
    model.script = (answer) => resolve(answer.text(hostile));
    const tab = await browser.open({ baseUrl: chat.url });
    const { page } = tab;
    await page.goto('/');
    await page.fill('#query', question);
    await page.keyboard.press('Enter');
    await page.locator('.writing pre', { hasText: 'never closed' }).waitFor();
    const found = async () =>
      page.evaluate(`(() => {
        const prose = document.querySelector('.answer .prose');
        const links = [...prose.querySelectorAll('a')].map((link) => link.getAttribute('href').replace(/documents\\/[^?]+/, 'documents/ID'));
        const count = (selector) => prose.querySelectorAll(selector).length;
        return {
          links: [...new Set(links)], loading: count('img, script, iframe, style, svg, form, input, [onerror], [onclick]'),
          strong: count('strong'), items: count('ol > li'), cells: count('td'), headings: count('h3'), code: count('pre > code'),
          pwned: 'pwned' in window,
        };
      })()`);
    const expected = {
      loading: 0,
      strong: 1,
      items: 2,
      cells: 2,
      headings: 1,
      code: 1,
      pwned: false,
    };
    const { links, ...drawn } = (await found()) as { links: string[] };
    assert.deepEqual([drawn, links.length], [expected, 1]);
    (await promise).end();
    await page.locator('.answer-foot').waitFor();
    const after = (await found()) as { links: string[] };
    assert.deepEqual({ ...after, links: after.links.length }, { ...expected, links: 1 });
    assert.match(after.links[0] ?? '', /^\/documents\/ID\?start=\d+&end=\d+&message=[\w-]+#passage$/);
    assert.deepEqual(await tab.barriers(), []);
    assert.deepEqual(tab.complaints, []);
  });

  test('a chat is renamed and deleted where it is listed, and an answer is copied', async () => {
    model.script = (answer) => answer.text('Everybody has **27 days** [1].').end();
    const { page } = await browser.open({ baseUrl: chat.url });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/');
    await page.fill('#query', question);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy the answer' }).click();
    await page.getByText('Copied.').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'Everybody has **27 days** [1].');
    const listed = page.locator('nav .own');
    assert.equal(await listed.locator('a').first().getAttribute('title'), question);
    await listed.hover();
    await listed.getByRole('link', { name: /^Rename/ }).click();
    await page.locator('dialog #title').fill('Holidays');
    await page.keyboard.press('Enter');
    await page.locator('h1', { hasText: 'Holidays' }).waitFor();
    assert.match(page.url(), /\/chats\//);
    await listed.hover();
    await listed.getByRole('link', { name: /^Delete/ }).click();
    await page.getByRole('button', { name: 'Delete chat' }).click();
    await page.getByText('The chat was deleted.').waitFor();
    assert.equal(await listed.count(), 0);
  });

  test('a file is uploaded, and deleted after a question', async () => {
    const { page } = await browser.open({ baseUrl: chat.url });
    await page.goto('/documents');
    await page.setInputFiles('#file', [
      { name: 'ships.txt', mimeType: 'text/plain', buffer: Buffer.from('The ferry sails.') },
      { name: 'ships.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') },
    ]);
    await page.click('[data-upload] button');
    await page.locator('.uploads .bad').waitFor();
    assert.deepEqual(await page.locator('.uploads li').allInnerTexts(), [
      'ships.txt\n1 passage',
      'ships.exe\nFiles that end in .exe are not supported.',
    ]);
    await page.locator('table', { hasText: 'ships.txt' }).waitFor();
    await page
      .locator('tr', { hasText: 'ships.txt' })
      .getByRole('link', { name: /Delete/ })
      .click();
    await page.getByRole('button', { name: 'Delete document' }).click();
    await page.getByText('The document was deleted.').waitFor();
    assert.equal(await page.locator('table', { hasText: 'ships.txt' }).count(), 0);
  });

  test('a folder is uploaded, and then what changed of it', async () => {
    const folder = join(testFolder('upload-folder'), 'Meetings');
    const place = (name: string) => join(folder, name);
    await mkdir(place('March/.drafts'), { recursive: true });
    await writeFile(place('plan.md'), 'The hall is booked.');
    await writeFile(place('March/minutes 1.md'), 'The minutes were accepted.');
    await writeFile(place('March/.drafts/secret.md'), 'Hidden.');
    await writeFile(place('empty.txt'), '');
    await writeFile(place('photo.raw'), 'Pixels.');
    const { page, complaints, barriers } = await browser.open({ baseUrl: chat.url });
    await page.goto('/documents');
    const send = async (counts: string) => {
      await page.setInputFiles('#folder', folder);
      await page.locator('.uploads small', { hasText: counts }).waitFor();
      await page.locator('#folder:enabled').waitFor();
    };
    await send('2 added, 1 skipped, 1 refused');
    const summary = page.locator('[data-upload] > details', { hasText: 'Meetings: 2 added' });
    await summary.locator('summary').click();
    assert.equal(await summary.locator('ul').innerText(), 'Meetings/March/minutes 1.md\nMeetings/plan.md');
    assert.deepEqual(await barriers(), []);
    if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT, fullPage: true });
    await writeFile(place('plan.md'), 'The hall is free.');
    await send('1 changed, 1 unchanged, 1 skipped, 1 refused');
    const { json } = await chat.send('GET', '/api/documents?tag=Meetings');
    assert.deepEqual(json.documents.map(({ filename }: { filename: string }) => filename).sort(), [
      'minutes 1.md',
      'plan.md',
    ]);
    assert.deepEqual(complaints, []);
  });

  test('a file that is dropped on a chat is uploaded beside the question', async () => {
    const tab = await browser.open({ baseUrl: chat.url });
    const { page } = tab;
    await page.goto('/');
    await page.fill('#query', 'A question that stays');
    await page.evaluate(`
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['The owl hunts at night.'], 'owl.txt', { type: 'text/plain' }));
      window.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));`);
    await page.locator('[data-uploads] .good', { hasText: '1 passage' }).waitFor();
    assert.equal(await page.inputValue('#query'), 'A question that stays');
    assert.deepEqual(await tab.barriers(), []);
  });
});
