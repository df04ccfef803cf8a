import { randomBytes } from 'node:crypto';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { sendRequest } from '@octavo/testing';
import { createChannel, createClientFactory, Metadata, Status } from 'nice-grpc';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { Random } from '../random.ts';
import { identitiesOf } from './identities.ts';
import { leakIn } from './leaks.ts';
import type { Findings, Services } from './services.ts';
import { toJson, Values } from './values.ts';

interface Parts {
  readonly services: Services;
  readonly findings: Findings;
  readonly random: Random;
}

interface Fuzz {
  step(): Promise<void>;
}

const waitMs = 10_000;
const lateMs = 60_000;

/** The other ways into budgets and chat: GraphQL, gRPC, WebSockets and Socket.IO. */
export async function openEdges(parts: Parts): Promise<Fuzz[]> {
  const { services, random } = parts;
  const user = identitiesOf('budgets', services, random).find(({ role }) => role === 'user');
  await user?.renew();
  const authorization = user?.headers.authorization ?? '';
  const edges = [
    graphql(parts, authorization),
    await grpc(parts, authorization),
    frames(parts, authorization),
    socketIo(parts),
  ];
  return edges.map((send) => ({
    async step() {
      const late = setTimeout(() => parts.findings.add(`${send.name} did not end`, ''), lateMs);
      await send();
      clearTimeout(late);
    },
  }));
}

interface GraphqlType {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: GraphqlType;
  readonly fields?: readonly {
    name: string;
    args: { name: string; type: GraphqlType }[];
    type: GraphqlType;
  }[];
}

function graphql({ services, findings, random }: Parts, authorization: string): () => Promise<void> {
  const url = `${services.sites.get('budgets')}/api/graphql`;
  const values = new Values(random);
  const send = (body: unknown) =>
    sendRequest(url, { body: typeof body === 'string' ? body : toJson(body), headers: { authorization } });
  const shape = (name = 'n') =>
    `kind name ${name === 'n' ? `ofType{${'kind name ofType{'.repeat(3)}kind name${'}'.repeat(4)}` : ''}`;
  const types = send({
    query: `{__schema{queryType{name} mutationType{name} types{kind name fields{name args{name type{${shape()}}} type{${shape()}}}}}}`,
  }).then(({ json }) => json.data.__schema as { types: GraphqlType[] });
  const nameOf = (type: GraphqlType): string => (type.ofType ? nameOf(type.ofType) : (type.name ?? ''));
  return async function graphqlStep() {
    const schema = await types;
    const find = (name: string) => schema.types.find((each) => each.name === name)?.fields ?? [];
    const selection = (name: string, depth: number): string => {
      const fields = find(name).filter(
        ({ args, type }) => args.length === 0 && (depth > 0 || find(nameOf(type)).length === 0),
      );
      if (fields.length === 0) return find(name).length > 0 ? '{__typename}' : '';
      return `{${fields.map((field) => field.name + selection(nameOf(field.type), depth - 1)).join(' ')}}`;
    };
    const root = random.pick(['Query', 'Mutation']);
    const field = random.pick(find(root));
    const args = field.args.map(
      ({ name, type }) => `${name}: ${literal(values.of({ type: typeFor(nameOf(type)) }, 0.4, name))}`,
    );
    const kind = root === 'Query' ? 'query' : 'mutation';
    const call = `${field.name}${args.length > 0 && random.chance(0.9) ? `(${args.join(', ')})` : ''}${selection(nameOf(field.type), random.below(4))}`;
    const body = random.pick<unknown>([
      { query: `${kind} {${call}}` },
      { query: `${kind} {${call}}` },
      { query: `${kind} {${call}}` },
      { query: `${kind} A {${call}} ${kind} B {${call}}`, operationName: random.pick(['A', 'C', '\0', 7]) },
      { query: `${kind} {${'a:'.repeat(50)}${call}}` },
      { query: `query {${'{'.repeat(2_000)}` },
      { query: `fragment F on Query {...F} query {...F}` },
      { query: `query {${Array.from({ length: 300 }, (_, index) => `a${index}: ${call}`).join(' ')}}` },
      { query: '{__typename}', variables: values.of({}, 1) },
      { query: values.of({}, 1), extensions: values.of({}, 1) },
      values.of({}, 1),
    ]);
    const example = `POST /api/graphql ${toJson(body).slice(0, 900)}`;
    services.underWay.add(example);
    const { status, text, json } = await send(body);
    services.underWay.delete(example);
    values.learn(json);
    const codes = (json?.errors ?? []).map(
      (each: { extensions?: { code?: string } }) => each.extensions?.code,
    );
    const isBusy = status === 503 || status === 504;
    if ((!isBusy && (status >= 500 || codes.includes('INTERNAL'))) || leakIn(text, services.folder))
      findings.add(`GraphQL ${field.name}: ${status} ${codes}`, `${example} -> ${text.slice(0, 400)}`);
    if (!json) findings.add(`GraphQL ${status}: its body is not JSON`, `${example} -> ${text.slice(0, 200)}`);
  };
}

const typeFor = (name: string) => ({ Int: 'integer', Float: 'number', Boolean: 'boolean' })[name] ?? 'string';

/** The value as GraphQL writes it. */
function literal(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return toJson(value);
  const entries = Object.entries(value).filter(([key]) => /^[a-z]\w*$/i.test(key));
  return `{${entries.map(([key, inner]) => `${key}: ${literal(inner)}`).join(', ')}}`;
}

async function grpc(
  { services, findings, random }: Parts,
  authorization: string,
): Promise<() => Promise<void>> {
  const channel = createChannel(`127.0.0.1:${services.grpcPort}`);
  const client = createClientFactory().create(BudgetServiceDefinition, channel);
  const values = new Values(random);
  const unary = [
    'getBudget',
    'listBudgets',
    'createBudget',
    'updateBudget',
    'deleteBudget',
    'addExpense',
  ] as const;
  const money = () => ({
    currencyCode: random.pick(['USD', 'JPY', 'usd', '', '\0', 'XXXX']),
    units: random.pick([0, 1, -1, 600, 2 ** 53 - 1, -(2 ** 53 - 1)]),
    nanos: random.pick([0, 1, -1, 500_000_000, 999_999_999, 2_147_483_647, -2_147_483_648]),
  });
  return async function grpcStep() {
    const method = random.pick(unary);
    const budget = {
      id: values.id(),
      name: values.text(),
      limit: random.chance(0.9) ? money() : undefined,
      etag: random.pick(['', 'v1', values.text()]),
      createdAt: random.pick([undefined, new Date(-62_135_596_800_000)]),
    };
    const expense = {
      budgetId: values.id(),
      description: values.text(),
      amount: money(),
      category: values.text(),
      spentOn: random.pick([
        undefined,
        {
          year: random.pick([0, 2026, 10_000, -1]),
          month: random.pick([0, 2, 13]),
          day: random.pick([0, 30, 99]),
        },
      ]),
    };
    const request = {
      id: values.id(),
      pageSize: random.pick([0, 1, -1, 1_000, 2_147_483_647]),
      pageToken: random.pick(['', values.text()]),
      requestId: random.pick(['', 'one', crypto.randomUUID(), values.text()]),
      updateMask: random.pick([undefined, ['name'], ['limit'], [values.text()], []]),
      cascade: random.chance(0.5),
      etag: '',
      budget: random.chance(0.95) ? budget : undefined,
      expense: random.chance(0.95) ? expense : undefined,
    };
    const metadata = Metadata({
      authorization: random.chance(0.95) ? authorization : values.text().replaceAll(/[^\x20-\x7e]/g, '?'),
    });
    const example = `gRPC ${method} ${toJson(request).slice(0, 900)}`;
    services.underWay.add(example);
    try {
      values.learn(await client[method](request as never, { metadata, signal: AbortSignal.timeout(waitMs) }));
    } catch (error) {
      const { code, message } = error as { code?: Status; message: string };
      const isOurs =
        code === undefined ||
        [Status.INTERNAL, Status.UNKNOWN, Status.UNAVAILABLE, Status.DATA_LOSS].includes(code);
      // Ids that are no text of protobuf are refused by the client itself.
      if (isOurs && !/serializ/i.test(message))
        findings.add(`gRPC ${method}: ${code} ${message.slice(0, 100)}`, example);
      const leak = leakIn(message, services.folder);
      if (leak) findings.add(`gRPC ${method} leaks ${leak}`, `${example} ${message}`);
    } finally {
      services.underWay.delete(example);
    }
  };
}

/** WebSockets with malformed frames, which must close with a code of ours, or be answered. */
function frames({ services, findings, random }: Parts, authorization: string): () => Promise<void> {
  const url = services.sites.get('budgets')?.replace('http', 'ws');
  const values = new Values(random);
  return async function frameStep() {
    const [path, protocol] = random.pick([
      ['/ws'],
      ['/'],
      ['/api/ws'],
      ['/api/graphql', 'graphql-transport-ws'],
    ]);
    const socket = new WebSocket(`${url}${path}`, protocol ? [protocol] : [], {
      headers: random.chance(0.8) ? { authorization } : {},
    });
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    await Promise.race([new Promise((resolve) => socket.once('open', resolve)), closed]);
    const types = protocol
      ? ['connection_init', 'subscribe', 'complete', 'ping', 'pong', 'next']
      : ['auth', 'resume', 'ack', 'ping'];
    const sent: string[] = [];
    for (let count = random.below(6); count > 0 && socket.readyState === WebSocket.OPEN; count--) {
      const message = {
        type: random.chance(0.8) ? random.pick(types) : values.of({}, 1),
        id: values.of({ type: 'string' }, 0.3),
        token: authorization.slice(7),
        lastSeq: values.of({ type: 'integer' }, 0.3),
        seq: values.of({ type: 'integer' }, 0.3),
        payload: random.pick([
          { authorization },
          { query: 'subscription {budgetChanged(id:"1"){id}}' },
          values.of({}, 1),
        ]),
      };
      const frame = random.chance(0.8)
        ? toJson(message)
        : random.pick<string | Buffer>(['', '{', 'null', '[]', randomBytes(50), 'a'.repeat(2e5)]);
      sent.push(String(frame).slice(0, 150));
      socket.send(frame);
    }
    const timer = setTimeout(() => socket.close(), 150);
    const code = await closed;
    clearTimeout(timer);
    if (code === 1011 || code === 4500)
      findings.add(`WebSocket ${path} closed with ${code}`, sent.join('\n      '));
  };
}

function socketIo({ services, findings, random }: Parts): () => Promise<void> {
  const url = services.sites.get('chat') ?? '';
  const values = new Values(random);
  return async function socketIoStep() {
    const socket = io(url, { transports: ['websocket'], reconnection: false, forceNew: true });
    const sent: string[] = [];
    socket.onAny((name, data) => {
      const text = JSON.stringify(data ?? null);
      if (/"code":"internal"/.test(text) || leakIn(text, services.folder))
        findings.add(`Socket.IO ${name}`, `${sent.join('\n      ')} -> ${text.slice(0, 300)}`);
    });
    await Promise.race([
      new Promise<void>((resolve) => socket.once('connect', resolve).once('connect_error', () => resolve())),
      new Promise((resolve) => setTimeout(resolve, waitMs)),
    ]);
    for (let count = random.below(5); count > 0; count--) {
      const event = random.pick([
        'chat_message',
        'join_session',
        'leave_session',
        'cancel',
        '__proto__',
        'disconnecting ',
      ]);
      const message = JSON.parse(
        JSON.stringify(
          random.chance(0.6)
            ? {
                query: values.of({ type: 'string' }, 0.3),
                session_id: values.of({ type: 'string' }, 0.5),
                request_id: values.of({ type: 'string' }, 0.3),
                top_k: values.of({ type: 'integer' }, 0.3),
              }
            : (values.of({ type: 'string' }, 0.5) ?? null),
        ),
      );
      sent.push(`${event} ${JSON.stringify(message).slice(0, 200)}`);
      socket.emit(
        event,
        message,
        ...(random.chance(0.5) ? [() => {}] : []),
        ...(random.chance(0.1) ? [1, 2, 3] : []),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
    socket.disconnect();
  };
}
