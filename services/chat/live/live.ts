import { fastifyCookie } from '@fastify/cookie';
import type { Log } from '@octavo/core';
import { AppError, networkOf, newOrderedId, notFound, toAppError } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { addressOf, type TrustedProxy } from '@octavo/web/server';
import { compileValidator } from '@octavo/web/validation';
import { type DefaultEventsMap, Server, type Socket } from 'socket.io';
import { codeOf, type Detail, isRetryable, rateLimited } from '../errors.ts';
import type { Gate } from '../gate/index.ts';
import { isStranger, publicOwner } from '../owner.ts';
import { findSession } from '../sessions/index.ts';
import {
  ChatRequest,
  type Client,
  type SessionTurn,
  type TurnEvent,
  type TurnRegistry,
  type TurnStream,
  toTurnRequest,
} from '../turns/index.ts';
import { roomOf, type SentPacket, SessionRooms } from './session-rooms.ts';

export interface LiveParts {
  readonly turns: TurnRegistry;
  readonly gate: Gate;
  readonly log: Log;
  readonly trustedProxy: TrustedProxy | undefined;
}

const frameBytesMax = 64 * 1024;
const recoveryMs = 2 * 60_000;
/** Time for which a turn goes on after its socket is gone. */
const awayMs = 5_000;
const turnsMax = 5;
const limits = { frame_bytes: frameBytesMax, running_turns: turnsMax, recovery_s: recoveryMs / 1_000 };

type Reply = Readonly<Record<string, unknown>>;
type Message = Readonly<Record<string, unknown>>;
type LiveSocket = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, { asker?: Client }>;

/** A turn that a socket waits for. */
interface Following {
  readonly turn: TurnStream;
  leave: () => void;
}

const validateChat = compileValidator(ChatRequest);

/** Accepts questions by Socket.IO, under the same rules as over HTTP. */
export function addLive(app: HttpApp, parts: LiveParts): AsyncDisposable {
  const io = new Server<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, { asker?: Client }>(
    app.server,
    {
      path: '/socket.io',
      maxHttpBufferSize: frameBytesMax,
      connectionStateRecovery: { maxDisconnectionDuration: recoveryMs, skipMiddlewares: false },
      allowRequest: (request, decide) => decide(null, !parts.gate.isForeign(request)),
    },
  );
  io.use(async (socket, next) => {
    try {
      socket.data.asker = await askerOf(socket, parts);
      next();
    } catch (error) {
      next(Object.assign(new Error(toAppError(error).message), { data: { code: codeOf(error) } }));
    }
  });
  const followed = new Map<string, Set<Following>>();
  const rooms = new SessionRooms(io, { ...parts, packetOf });
  io.on('connection', (socket) => {
    const following = followed.get(socket.id) ?? new Set();
    followed.set(socket.id, following);
    for (const each of following) each.leave = each.turn.follow(awayMs);
    addMessages(socket, { ...parts, io, rooms, following });
    socket.on('disconnect', () => {
      for (const { leave } of following) leave();
      if (following.size === 0) followed.delete(socket.id);
      // A socket that comes back within the time of recovery has the same id.
      else
        setTimeout(() => io.sockets.sockets.has(socket.id) || followed.delete(socket.id), recoveryMs).unref();
    });
    socket.emit('connected', { sid: socket.id, limits });
  });
  return {
    async [Symbol.asyncDispose]() {
      await rooms[Symbol.asyncDispose]();
      io.disconnectSockets(true);
      io.engine.close();
    },
  };
}

interface SocketParts extends LiveParts {
  readonly io: Server;
  readonly rooms: SessionRooms;
  readonly following: Set<Following>;
}

function addMessages(socket: LiveSocket, parts: SocketParts): void {
  const { turns, following } = parts;
  const on = (name: string, handle: (message: Message, asker: Client) => Promise<Reply>) => {
    socket.on(name, async (given: unknown, acknowledge: unknown) => {
      const message = (typeof given === 'object' && given !== null ? given : {}) as Message;
      const reply = typeof acknowledge === 'function' ? acknowledge : () => {};
      try {
        // Tokens expire while sockets stay open.
        reply({ ok: true, ...(await handle(message, await askerOf(socket, parts))) });
      } catch (error) {
        if (toAppError(error).code === 'internal') parts.log.error({ err: error }, 'a message failed');
        reply({ ok: false, error: failureOf(error) });
      }
    });
  };
  on('chat_message', async (message, asker) => {
    parts.gate.take('chat', asker.client);
    if (following.size >= turnsMax) throw rateLimited(`A socket has at most ${turnsMax} running turns.`, 5);
    const checked = validateChat({ request_id: newOrderedId(), ...message });
    if (checked.fields) {
      const { fields } = checked;
      throw new AppError('validation_failed', 'The message is not valid.', { fields });
    }
    const request = toTurnRequest(checked.value, socket.handshake.headers['accept-language']);
    const turn = turns.begin(asker, request);
    await forward(turn, { owner: asker.owner, requestId: request.requestId }, socket, parts);
    return { request_id: request.requestId };
  });
  on('join_session', async ({ session_id: id }, { owner }) => {
    const reach = { owner, nowMs: turns.parts.clock.now() };
    const session = await findSession(turns.parts.database, reach, String(id));
    if (!session) throw notFound('session', String(id));
    await socket.join(roomOf(session.id));
    socket.emit('session_joined', { session_id: session.id });
    return { session_id: session.id };
  });
  on('leave_session', async ({ session_id: id }) => {
    await socket.leave(roomOf(String(id)));
    return { session_id: id };
  });
  on('cancel', async ({ request_id: id }, { owner }) => {
    if (!(await turns.cancel(owner, String(id)))) throw notFound('request', String(id));
    return { request_id: id };
  });
}

/** Sends the events of a turn to its socket and to those that joined its session. Resolves at the first event; throws if there is none. */
async function forward(
  turn: TurnStream,
  key: Pick<SessionTurn, 'owner' | 'requestId'>,
  socket: LiveSocket,
  { io, rooms, following }: SocketParts,
): Promise<void> {
  const entry: Following = { turn, leave: turn.follow(awayMs) };
  following.add(entry);
  const events = turn.events(new AbortController().signal, { pauseMs: 60_000 });
  const end = () => {
    following.delete(entry);
    entry.leave();
  };
  try {
    const first = await events.next();
    if (first.value?.event === 'start') {
      const { session_id: session, message_id: run } = first.value.data;
      rooms.show({ ...key, session, run, fingerprint: turn.fingerprint, endedAtMs: undefined }, socket.id);
    }
    const rest = async () => {
      for await (const event of events) {
        const packet = event && packetOf(event, key.requestId);
        // By its room, because only these packets are kept for a socket that comes back.
        if (packet) io.to(socket.id).emit(packet.name, packet.data);
      }
    };
    // Failures of a running turn are among its events.
    void rest()
      .catch(() => undefined)
      .finally(end);
  } catch (error) {
    end();
    throw error;
  }
}

function packetOf(event: TurnEvent, request_id: string): SentPacket | undefined {
  switch (event.event) {
    case 'status':
      return { name: 'status', data: event.data };
    case 'tool':
      return { name: 'tool_call', data: event.data };
    case 'sources':
      return { name: 'sources', data: { request_id, ...event.data } };
    case 'delta':
      return { name: 'response_chunk', data: { request_id, seq: event.data.seq, chunk: event.data.text } };
    case 'done': {
      const isCancelled = event.data.metadata.finish_reason === 'cancelled';
      return { name: isCancelled ? 'response_cancelled' : 'response_complete', data: event.data };
    }
    case 'error':
      return { name: 'error', data: event.data };
    default:
      return undefined;
  }
}

/** Throws `unauthenticated`. */
async function askerOf(
  { handshake, request }: LiveSocket,
  { gate, turns, trustedProxy }: LiveParts,
): Promise<Client> {
  const { token } = handshake.auth;
  const shown = typeof token === 'string' && token !== '' ? token : undefined;
  const { cookie = '' } = handshake.headers;
  const jar = fastifyCookie.parse(await gate.withoutEnded(cookie, fastifyCookie.parse(cookie)));
  const browser = shown === undefined ? gate.browserOwner(jar, turns.parts.clock.now()) : undefined;
  const owner = browser ?? (await gate.identify({ bearer: shown, apiKey: shown }))?.owner ?? publicOwner;
  const client = isStranger(owner) ? networkOf(addressOf(request, trustedProxy)) : owner;
  return { owner, client };
}

function failureOf(error: unknown) {
  const { message, fields, details } = toAppError(error);
  const named = Object.entries(fields).map(([path, problem]): Detail => ({ path, message: problem }));
  return { code: codeOf(error), message, details: details ?? named, retryable: isRetryable(error) };
}
