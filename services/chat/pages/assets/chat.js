// Asks without leaving the page: the answer is written as it comes, and can be stopped. Without this module the form works by itself.
const chat = document.querySelector('[data-chat]');
const composer = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-composer]'));
const stages = {
  retrieving: 'Looking for passages',
  calling_tools: 'Asking the domain data API',
  generating: 'Writing the answer',
};

if (chat && composer) start(chat, composer);

/**
 * @param {Element} page
 * @param {HTMLFormElement} form
 */
function start(page, form) {
  const query = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem('query'));
  query.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (query.value.trim() !== '' && !form.hasAttribute('data-busy')) void ask(page, form, query);
  });
}

/**
 * @param {Element} page
 * @param {HTMLFormElement} form
 * @param {HTMLTextAreaElement} query
 */
async function ask(page, form, query) {
  const request = {
    query: query.value,
    strategy: String(new FormData(form).get('strategy')),
    request_id: crypto.randomUUID(),
    stream: true,
    ...(page.getAttribute('data-chat') && { session_id: page.getAttribute('data-chat') }),
  };
  const stop = /** @type {HTMLButtonElement} */ (form.querySelector('[data-stop]'));
  const cancel = () => fetch(`/api/chat/${request.request_id}/cancel`, { method: 'POST' });
  const turn = addTurn(page, request.query);
  form.setAttribute('data-busy', '');
  query.value = '';
  stop.hidden = false;
  stop.addEventListener('click', cancel);
  try {
    const done = await follow(request, turn);
    const address = `/chats/${done.session_id}`;
    if (page.getAttribute('data-chat') !== done.session_id) history.pushState(null, '', address);
    page.setAttribute('data-chat', done.session_id);
    await refresh(address);
    say(done.answer);
  } catch (error) {
    turn.fail(error instanceof Error ? error.message : String(error));
    query.value = request.query;
  }
  form.removeAttribute('data-busy');
  stop.hidden = true;
  stop.removeEventListener('click', cancel);
  query.focus();
}

/**
 * The answer to a request. A broken stream is asked for once more under the same id, which is the same turn.
 * @param {{ request_id: string }} request
 * @param {ReturnType<typeof addTurn>} turn
 */
async function follow(request, turn) {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await send(request);
      turn.clear();
      for await (const { event, data } of eventsIn(response)) {
        if (event === 'delta') turn.write(data.text);
        if (event === 'status') turn.state(stages[/** @type {keyof typeof stages} */ (data.stage)] ?? '');
        if (event === 'tool') turn.state(`${stages.calling_tools}: ${data.step.tool}`);
        if (event === 'error') throw new Refusal(data.message);
        if (event === 'done') return data;
      }
      throw new Error('The connection was lost.');
    } catch (error) {
      if (error instanceof Refusal || attempt === 3) throw error;
    }
  }
}

/** What the server says is wrong, so that asking again does not help. */
class Refusal extends Error {}

/** @param {object} request */
async function send(request) {
  const response = await fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(request),
  });
  if (response.ok) return response;
  const { error, request_id: id } = await response.json();
  throw new Refusal(`${error.message} (request ${id})`);
}

/** @param {Response} response */
async function* eventsIn(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const messages = (text + value).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const [, event, data] = /^id: \d+\nevent: (\w+)\ndata: (.*)$/s.exec(message) ?? [];
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}

/**
 * @param {Element} page
 * @param {string} question
 */
function addTurn(page, question) {
  const turns = /** @type {Element} */ (page.querySelector('[data-turns]'));
  turns.querySelector('.empty')?.remove();
  const heading = document.createElement('h2');
  const article = document.createElement('article');
  const prose = document.createElement('div');
  const state = document.createElement('p');
  heading.className = 'question';
  heading.textContent = question;
  article.className = 'answer';
  prose.className = 'prose writing';
  state.className = 'small muted';
  article.append(prose, state);
  turns.append(heading, article);
  heading.scrollIntoView({ block: 'start' });
  return {
    clear() {
      prose.textContent = '';
    },
    /** @param {string} text */
    write(text) {
      prose.append(text);
    },
    /** @param {string} text */
    state(text) {
      state.textContent = text;
    },
    /** @param {string} message */
    fail(message) {
      prose.classList.remove('writing');
      state.className = 'notice bad';
      state.setAttribute('role', 'alert');
      state.textContent = message;
    },
  };
}

/**
 * Shows the chat as the server draws it: with its sources, and with its name among the chats.
 * @param {string} address
 */
async function refresh(address) {
  const response = await fetch(address);
  if (!response.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const selector of ['[data-turns]', '.head', 'nav[aria-label="Main"]']) {
    const [old, drawn] = [document.querySelector(selector), fresh.querySelector(selector)];
    if (old && drawn) old.replaceWith(drawn);
  }
  document.title = fresh.title;
  const session = document.querySelector('[data-composer] [name=session]');
  session?.setAttribute('value', address.split('/').at(-1) ?? '');
}

/** @param {string} text */
function say(text) {
  const state = document.querySelector('[data-state]');
  if (state) state.textContent = text;
}
