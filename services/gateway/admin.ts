import type { FastifyRequest } from 'fastify';
import {
  type Actor,
  type Admin,
  type AdminAccounts,
  createAdmin,
  dateTime,
  functionModel,
  integer,
  type ListQuery,
  type Model,
  text,
  type Values,
} from '#kit/admin/index.ts';
import type { Clock } from '#kit/clock.ts';
import { AppError } from '#kit/errors.ts';
import type { Client } from '#kit/rpc/index.ts';
import { postLimits } from '#proto/posts/v1/limits.ts';
import { type Post, type PostFilter, type PostServiceDefinition, PostSort } from '#proto/posts/v1/posts.ts';
import { type Access, type Action, allows, type Caller, callOf, type PageSession } from './access/index.ts';
import { isPostId } from './posts/index.ts';
import { postPath } from './routes.ts';
import { type Usernames, userText } from './users/index.ts';

type Posts = Client<PostServiceDefinition>;

export interface GatewayAdminParts {
  readonly access: Access;
  readonly posts: Posts;
  readonly usernames: Usernames;
  readonly clock: Clock;
}

/** The admin at `/admin/`: the posts, for accounts with the role `admin`. */
export function createGatewayAdmin({
  access,
  posts,
  usernames,
  clock,
}: GatewayAdminParts): Admin<PageSession> {
  return createAdmin({
    title: 'Posts admin',
    models: [postModel(posts, usernames)],
    accounts: administrators(access),
    clock,
  });
}

/** Those whom authz lets read `admin`. What they may do with posts, authz decides with each request. */
function administrators(access: Access): AdminAccounts<PageSession> {
  const may = (caller: Caller, request: FastifyRequest, permission: ['post' | 'admin', Action]) => {
    const [resource, action] = permission;
    const mfaVerified = access.isMfaVerified(caller, []);
    return allows(access, caller, { permission: { resource, action, mfaVerified }, call: callOf(request) });
  };
  return {
    async userOf({ who, request }) {
      const caller = who && identified(access, who.token);
      if (!caller || !(await isCurrent(may(caller, request, ['admin', 'read'])))) return undefined;
      const [view, change, remove] = await Promise.all([
        may(caller, request, ['post', 'read']),
        may(caller, request, ['post', 'write']),
        may(caller, request, ['post', 'delete']),
      ]);
      const allowed = { view, add: change, change, delete: remove };
      const permissions = { may: (_model: string, action: keyof typeof allowed) => allowed[action] };
      const { uid, username: name, role } = caller;
      return { id: String(uid), name, detail: role, isSuperuser: role === 'admin', permissions };
    },
    async strangerOf({ who }) {
      return who && identified(access, who.token)?.username;
    },
    async signIn(visit, credentials, remoteAddress) {
      const { request } = visit;
      const { token } = await access
        .signIn({ ...credentials, remoteAddress }, callOf(request))
        .catch(inOurWords);
      // Whoever may not open the admin learns no more than somebody with a wrong password.
      if (!(await may(access.identify(token), request, ['admin', 'read']))) throw refusal();
      visit.signIn({ token });
    },
    async signOut(visit) {
      visit.signOut();
    },
  };
}

function identified(access: Access, token: string): Caller | undefined {
  try {
    return access.identify(token);
  } catch {
    return undefined;
  }
}

/** False also for a token whose password was changed since. */
async function isCurrent(decision: Promise<boolean>): Promise<boolean> {
  try {
    return await decision;
  } catch (error) {
    if (isCode(error, 'unauthenticated')) return false;
    throw error;
  }
}

const refusal = () => new AppError('unauthenticated', 'The username or the password is wrong.');

function inOurWords(error: unknown): never {
  throw isCode(error, 'unauthenticated') ? refusal() : error;
}

function postModel(posts: Posts, usernames: Usernames): Model {
  return functionModel({
    path: 'posts/post',
    label: 'post',
    title: 'title',
    description: 'A search finds its text anywhere in the title or the body.',
    fields: {
      title: text({ label: 'Title', charactersMax: postLimits.title }),
      body: text({ label: 'Body', charactersMax: postLimits.body, isLong: true }),
      author: {
        ...integer({ label: 'User number', min: 1, isOptional: true, help: 'You if empty.' }),
        onlyWhenAdding: true,
      },
      userId: integer({ label: 'User number', min: 1, readOnly: true }),
      username: text({ label: 'User', readOnly: true }),
      created: dateTime({ label: 'Created', readOnly: true }),
      updated: dateTime({ label: 'Changed', readOnly: true }),
    },
    sections: [{ title: 'Whose it is', fields: ['author', 'username', 'userId', 'created', 'updated'] }],
    columns: ['title', 'username', 'created', 'updated', 'id'],
    search: ['title', 'body'],
    filters: ['userId', 'created'],
    dates: 'created',
    sortable: Object.keys(sorts),
    order: ['-id'],
    links: ({ id }) => [{ href: postPath('post', Number(id)), label: 'View on site' }],
    async list(query, actor) {
      const call = callOf(actor.request);
      const { posts: found, total } = await posts.listPosts(toListRequest(query), call);
      const names = await usernames.of(
        found.map(({ userId }) => userId),
        call,
      );
      return { rows: found.map((post) => valuesOf(post, names)), total, isCapped: false };
    },
    async get(id, actor) {
      const post = await findPost(posts, id, actor);
      return post && valuesOf(post, await usernames.of([post.userId], callOf(actor.request)));
    },
    async create({ title, body, author }, { user, request }) {
      const post = { title: String(title), body: String(body), userId: Number(author ?? user.id) };
      const created = await posts.createPost({ post }, callOf(request));
      return String(created.post?.id);
    },
    async update(id, values, { before, request }) {
      const change = { title: changed(values, before, 'title'), body: changed(values, before, 'body') };
      const ifRevisions = [Number(before.revision)];
      await posts.updatePost({ id: Number(id), ...change, ifRevisions }, callOf(request));
    },
    async delete(id, { request }) {
      await posts.deletePost({ id: Number(id), ifRevisions: [] }, callOf(request));
    },
  });
}

const sorts: Readonly<Record<string, PostSort>> = {
  id: PostSort.POST_SORT_ID,
  title: PostSort.POST_SORT_TITLE,
  created: PostSort.POST_SORT_CREATED_AT,
  updated: PostSort.POST_SORT_UPDATED_AT,
};

/** The posts service sorts by one field, and takes pages in place of offsets. */
function toListRequest({ words, filters, sort: [first], offset, limit }: ListQuery) {
  return {
    filter: toFilter(words, filters),
    sort: sorts[first?.name ?? 'id'] ?? PostSort.POST_SORT_ID,
    descending: first?.isDescending ?? true,
    page: Math.floor(offset / limit) + 1,
    pageSize: limit,
  };
}

function toFilter(words: ListQuery['words'], filters: ListQuery['filters']): PostFilter {
  const times = filters.filter(({ name }) => name === 'created');
  const from = times.flatMap((each) => (typeof each.from === 'number' ? [each.from] : []));
  const until = times.flatMap((each) => (typeof each.until === 'number' ? [each.until] : []));
  const userId = filters.find(({ name }) => name === 'userId')?.equals;
  return {
    search: [...words.join(' ')].slice(0, postLimits.search).join('') || undefined,
    userId: typeof userId === 'number' ? userId : undefined,
    createdFromMs: from.length > 0 ? Math.max(...from) : undefined,
    createdBeforeMs: until.length > 0 ? Math.min(...until) : undefined,
  };
}

async function findPost(posts: Posts, id: string, { request }: Actor): Promise<Post | undefined> {
  if (!isPostId(id)) return undefined;
  try {
    return (await posts.getPost({ id: Number(id) }, callOf(request))).post;
  } catch (error) {
    if (isCode(error, 'not_found')) return undefined;
    throw error;
  }
}

function valuesOf(post: Post, names: ReadonlyMap<number, string>): Values {
  const { id, title, body, userId, revision, createdAtMs: created, updatedAtMs: updated } = post;
  return { id, title, body, userId, username: userText(userId, names), created, updated, revision };
}

/** The text if it was changed. Forms send lines that end in "\n" and no white space around them. */
function changed(values: Values, before: Values, name: string): string | undefined {
  const asInForm = (value: unknown) => String(value).replace(/\r\n?/g, '\n').trim();
  return asInForm(values[name]) === asInForm(before[name]) ? undefined : String(values[name]);
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code;
}
