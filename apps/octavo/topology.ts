import { join } from 'node:path';
import { type Environment, readConfig, type Settings } from '@octavo/core';
import { configOf, type Running, type Service } from '@octavo/data/service';
import type { WaitingMetric } from '@octavo/portal/activity';
import { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import { suiteSettings } from './suite-settings.ts';
import type { Entry, Loaded, Provider } from './system.ts';

/** Port of the portal in `octavo up`; the other services have the ports above it. */
export const basePort = 3_000;

export const posts: Provider<PostServiceDefinition> = {
  name: 'posts',
  alonePort: 50_051,
  deploy: { settings: { POSTS_WORKER: 'off' } },
  load: async () => alone((await import('@octavo/posts')).posts),
};

export const authz: Provider<AuthServiceDefinition> = {
  name: 'authz',
  alonePort: 50_052,
  deploy: { secrets: ['AUTHZ_SECRET'] },
  load: async () => alone((await import('@octavo/authz')).authz),
};

/** Every service of the suite. This is the only place that names all of them. Code is loaded on demand. */
export const topology: readonly Entry[] = [
  {
    name: 'portal',
    site: {
      title: 'Octavo',
      summary: 'All services and how they are',
      isApplication: true,
      mark: { icon: 'book', accent: 'indigo' },
    },
    upPort: 3000,
    alonePort: 3000,
    deploy: { host: '' },
    load: async () => {
      const { portal } = await import('@octavo/portal');
      return {
        service: portal,
        start: (system, context) =>
          portal.start(configOf(portal, system.environmentOf('portal')), context, {
            signInHints: Object.fromEntries(
              topology.map(({ name, signIn, oneSignIn }) => [name, (system.signIn && oneSignIn) ?? signIn]),
            ),
            entrances: Object.fromEntries(
              topology.map(({ name, site }) => [name, { hasAdmin: site?.hasAdmin ?? false }]),
            ),
            metrics: Object.fromEntries(topology.map(({ name, site }) => [name, site ?? {}])),
            samples: Object.fromEntries(topology.map(({ name, site }) => [name, site?.samples ?? []])),
            mailFolders: Object.fromEntries(
              topology.flatMap(({ name, mails }) =>
                mails ? [[name, system.environment[mails.setting] || mails.folder]] : [],
              ),
            ),
            recentErrors: () => system.recentErrors.list(),
            demoSignIns: () => system.demoSignIns(),
            signIn: system.signIn,
            // Where several services run apart, data is loaded on their machines.
            seeding: system.environment.SUITE_SITES
              ? undefined
              : {
                  seedable: topology.flatMap(({ name, hasDemo }) => (hasDemo ? [name] : [])),
                  command: {
                    file: process.execPath,
                    args: [join(import.meta.dirname, 'octavo.js'), 'seed'],
                    environment: system.environment,
                  },
                },
            needsDatabaseUrl: Boolean(system.environment.DATABASE_URL),
          }),
      };
    },
  },
  {
    name: 'gateway',
    site: {
      title: 'Posts',
      summary: 'Write, search and export posts',
      isApplication: true,
      mark: { icon: 'pen', accent: 'blue' },
      activity: [
        { metric: 'posts_stored', kind: 'gauge', nouns: ['post', 'posts'] },
        { metric: 'events_published_total', kind: 'counter', nouns: ['change', 'changes'] },
      ],
      waiting: [waits('posts_jobs_failed', ['job failed', 'jobs failed'], '/analysis/reanalyses')],
      samples: [
        { label: 'List posts', path: '/api/v1/posts?pageSize=5' },
        { label: 'Write a post', path: '/api/v1/posts', body: { title: 'Hello', body: 'A first post' } },
      ],
    },
    hasDemo: true,
    upPort: 3001,
    signIn: 'with a demo account',
    oneSignIn: 'with Octavo, or with a demo account',
    alonePort: 3000,
    calls: { POSTSVC_ADDR: posts, AUTHSVC_ADDR: authz },
    deploy: { host: 'posts', secrets: ['GATEWAY_JWT_SECRET'] },
    load: async () => {
      const { gateway } = await import('@octavo/gateway');
      return {
        service: gateway,
        start: async (system, context) =>
          gateway.start(configOf(gateway, system.environmentOf('gateway')), context, {
            posts: await system.client(PostServiceDefinition, posts, {
              address: 'POSTSVC_ADDR',
              context,
            }),
            authz: await system.client(AuthServiceDefinition, authz, {
              address: 'AUTHSVC_ADDR',
              context,
            }),
            rpcAddresses: {
              postsvc: system.environment.POSTSVC_ADDR || 'in-process',
              authsvc: system.environment.AUTHSVC_ADDR || 'in-process',
            },
          }),
      };
    },
  },
  posts,
  {
    name: 'posts-worker',
    folder: 'posts',
    alonePort: 50_061,
    deploy: {},
    load: async () => alone((await import('@octavo/posts')).postsWorker),
  },
  authz,
  {
    name: 'tokens',
    site: {
      title: 'Accounts',
      summary: 'Sign in with a password',
      mark: { icon: 'person', accent: 'cyan' },
      activity: [
        { metric: 'tokens_users', kind: 'gauge', nouns: ['account', 'accounts'] },
        { metric: 'tokens_sessions', kind: 'gauge', nouns: ['open session', 'open sessions'] },
      ],
    },
    mails: { folder: 'accounts-mails', setting: 'TOKENS_MAIL_FOLDER' },
    upPort: 3002,
    signIn: 'with an e-mail address, after you create an account',
    alonePort: 3000,
    deploy: {
      host: 'tokens',
      secrets: ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET'],
      addresses: { TOKENS_URL: '' },
    },
    load: async () => alone((await import('@octavo/tokens')).tokens),
  },
  {
    name: 'passwordless',
    site: {
      title: 'Sign-in',
      summary: 'Sign in without a password',
      isProvider: true,
      hasAdmin: true,
      mark: { icon: 'key', accent: 'violet' },
      activity: [
        { metric: 'passwordless_users', kind: 'gauge', nouns: ['user', 'users'] },
        { metric: 'passwordless_mail_queue_depth', kind: 'gauge', nouns: ['mail waits', 'mails wait'] },
      ],
    },
    mails: { folder: 'mails', setting: 'PASSWORDLESS_MAIL_FOLDER' },
    hasDemo: true,
    upPort: 3003,
    signIn: 'with any e-mail address; the mails are at /mails',
    alonePort: 3000,
    deploy: {
      host: 'sign-in',
      secrets: ['PASSWORDLESS_JWT_SECRET'],
      addresses: { PASSWORDLESS_MAGIC_LINK_BASE_URL: '/verify/magic' },
      settings: { PASSWORDLESS_WORKER: 'off' },
    },
    load: async () => alone((await import('@octavo/passwordless')).passwordless),
  },
  {
    name: 'polls',
    site: {
      title: 'Polls',
      summary: 'Make polls, vote and watch the results',
      isApplication: true,
      hasAdmin: true,
      mark: { icon: 'bars', accent: 'teal' },
      activity: [
        { metric: 'polls_questions', kind: 'gauge', nouns: ['poll', 'polls'] },
        { metric: 'polls_votes_total{outcome="counted"', kind: 'counter', nouns: ['vote', 'votes'] },
      ],
      samples: [
        { label: 'List polls', path: '/api/questions/?limit=5' },
        {
          label: 'Ask a question',
          path: '/api/questions/',
          body: { question_text: 'Tea or coffee?', pub_date: '2026-01-01T00:00:00Z' },
        },
      ],
    },
    hasDemo: true,
    upPort: 3004,
    signIn: 'to make polls; voting needs no account',
    oneSignIn: 'with Octavo to make polls; voting needs no account',
    alonePort: 3000,
    deploy: { host: 'polls', secrets: ['POLLS_SECRET'], addresses: { POLLS_URL: '' } },
    load: async () => alone((await import('@octavo/polls')).polls),
  },
  {
    name: 'quotes',
    site: {
      title: 'Quotes',
      summary: 'Read and like quotes',
      isApplication: true,
      hasAdmin: true,
      mark: { icon: 'quote', accent: 'pink' },
      activity: [{ metric: 'quotes_published', kind: 'gauge', nouns: ['quote', 'quotes'] }],
      waiting: [
        waits(
          'quotes_waiting',
          ['quote to approve', 'quotes to approve'],
          '/admin/quotes/quote/?is_published=false',
        ),
        waits('quotes_proposed_changes', ['proposed change', 'proposed changes'], '/admin/quotes/change/'),
        waits('quotes_open_reports', ['open report', 'open reports'], '/admin/quotes/report/?status=open'),
      ],
      samples: [{ label: 'List quotes', path: '/api/quotes/?limit=5' }],
    },
    hasDemo: true,
    upPort: 3005,
    signIn: 'to like and comment',
    oneSignIn: 'with Octavo to like and comment',
    alonePort: 3000,
    deploy: { host: 'quotes', secrets: ['QUOTES_SECRET'], addresses: { QUOTES_URL: '' } },
    load: async () => alone((await import('@octavo/quotes')).quotes),
  },
  {
    name: 'passwordless-worker',
    folder: 'passwordless',
    // Any free port, because several may run on one machine.
    alonePort: 0,
    deploy: {
      secrets: ['PASSWORDLESS_JWT_SECRET'],
      addresses: { PASSWORDLESS_MAGIC_LINK_BASE_URL: '/verify/magic' },
    },
    load: async () => alone((await import('@octavo/passwordless')).passwordlessWorker),
  },
  {
    name: 'budgets',
    site: {
      title: 'Budgets',
      summary: 'Plan what you spend, and see what is left',
      isApplication: true,
      hasAdmin: true,
      mark: { icon: 'wallet', accent: 'green' },
      activity: [
        { metric: 'budgets_budgets', kind: 'gauge', nouns: ['budget', 'budgets'] },
        { metric: 'events_published_total', kind: 'counter', nouns: ['change', 'changes'] },
      ],
      waiting: [
        waits('budgets_tasks_failed', ['failed task', 'failed tasks'], '/admin/budgets/task/?status=failed'),
      ],
      samples: [{ label: 'List budgets', path: '/api/budgets' }],
    },
    mails: { folder: 'budgets-mails', setting: 'BUDGETS_MAIL_FOLDER' },
    hasDemo: true,
    upPort: 3006,
    signIn: 'after you create an account',
    oneSignIn: 'with Octavo',
    alonePort: 3000,
    grpc: { setting: 'GRPC_PORT', port: 50_053 },
    deploy: { host: 'budgets', secrets: ['JWT_SECRET'], addresses: { BUDGETS_PUBLIC_URL: '' } },
    load: async () => alone((await import('@octavo/budgets')).budgets),
  },
  {
    name: 'chat',
    site: {
      title: 'Chat',
      summary: 'Ask questions about your documents',
      isApplication: true,
      mark: { icon: 'bubble', accent: 'amber' },
      activity: [
        // Private documents stay private, even their number.
        { metric: 'chat_documents_everyone', kind: 'gauge', nouns: ['document', 'documents'] },
        { metric: 'chat_turns_total', kind: 'counter', nouns: ['question', 'questions'] },
      ],
      waiting: [waits('chat_documents_failed', ['document failed', 'documents failed'], '/documents')],
      servers: {
        metric: 'chat_model_server',
        nouns: { llm: 'Language model', embeddings: 'Embeddings', reranker: 'Reranker' },
        path: '/settings',
      },
      samples: [{ label: 'List documents', path: '/api/documents' }],
    },
    hasDemo: true,
    upPort: 3007,
    alonePort: 3000,
    deploy: {
      host: 'chat',
      secrets: ['CHAT_SECRET'],
      settings: { DOMAIN_API_URL: 'http://portfolio:3000' },
      livePath: '/livez',
      isSticky: true,
    },
    // It starts after the portfolio, which it calls: services start from the end of this list.
    load: async () => {
      const { chat } = await import('@octavo/chat');
      return {
        service: chat,
        start: async (system, context) => {
          const portfolioUrl = await system.urlOf('portfolio');
          const environment = { DOMAIN_API_URL: portfolioUrl, ...withoutEmpty(system.environmentOf('chat')) };
          return chat.start(configOf(chat, environment, context.log), context, {});
        },
      };
    },
  },
  {
    name: 'portfolio',
    site: {
      title: 'Portfolio',
      summary: 'Look up team, investments and sectors',
      isApplication: true,
      hasAdmin: true,
      mark: { icon: 'case', accent: 'plum' },
      activity: [
        { metric: 'portfolio_records{kind="team"', kind: 'gauge', nouns: ['person', 'people'] },
        {
          metric: 'portfolio_records{kind="investments"',
          kind: 'gauge',
          nouns: ['investment', 'investments'],
        },
        { metric: 'portfolio_records{kind="sectors"', kind: 'gauge', nouns: ['sector', 'sectors'] },
      ],
      samples: [{ label: 'List the team', path: '/api/team?limit=5' }],
    },
    hasDemo: true,
    upPort: 3008,
    signIn: 'with a token from /auth/token',
    oneSignIn: 'with Octavo to the admin; programs use a token',
    alonePort: 3000,
    deploy: { host: 'portfolio', secrets: ['PORTFOLIO_JWT_SECRET'] },
    load: async () => alone((await import('@octavo/portfolio')).portfolio),
  },
];

/** Records that wait for administrators, by a gauge: the nouns for one and for more, and the path of the list that has them. */
function waits(metric: string, nouns: readonly [string, string], path: string): WaitingMetric {
  return { metric, nouns, path };
}

/** The environment without variables that count as not set. */
function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
}

/** A service that calls no other. */
function alone<S extends Settings, R extends Running>(service: Service<S, object, R>): Loaded<R> {
  return {
    service,
    start: (system, context) =>
      service.start(
        configOf(service, withGrpcPort(service.name, system.environmentOf(service.name)), context.log),
        context,
        {},
      ),
  };
}

/**
 * Ports of gRPC by service name: that of its setting, else the usual one, which follows PORT so that two systems fit on one machine.
 */
export function grpcPortsFor(names: readonly string[], environment: Environment): Record<string, number> {
  const { PORT: base } = readConfig(suiteSettings, environment);
  return Object.fromEntries(
    topology.flatMap(({ name, grpc }) =>
      grpc && names.includes(name)
        ? [[name, Number(environment[grpc.setting] || grpcPortOf(grpc.port, base))]]
        : [],
    ),
  );
}

function grpcPortOf(usual: number, base = basePort): number {
  if (base === basePort) return usual;
  return base === 0 ? 0 : base + (usual % 1_000);
}

/** An environment in which the port of gRPC follows PORT, unless it has a setting of its own. */
function withGrpcPort(name: string, environment: Environment): Environment {
  const { grpc } = topology.find((entry) => entry.name === name) ?? {};
  if (!grpc || !environment.PORT) return environment;
  return { ...environment, [grpc.setting]: String(grpcPortsFor([name], environment)[name]) };
}
