import { adminMigrations, openStaffSignIn, RowHistory } from '@octavo/admin';
import { type Environment, flag, integer, type Settings, text } from '@octavo/core';
import { type Database, databaseCheck, databaseSettings, healthMigrations, rowGauge } from '@octavo/data';
import { limitMigrations, SharedLimits } from '@octavo/data/limits';
import { configOf, defineService, openServiceDatabase, type ServiceContext } from '@octavo/data/service';
import { PageTokens, tokenMigrations, tokenScheme } from '@octavo/drf';
import { drfErrors } from '@octavo/drf/dialect';
import { accountMigrations, accountSettings, openAccounts, setupAddress } from '@octavo/people/accounts';
import { checkOidc, oidcMigrations, oidcSettings } from '@octavo/people/sign-in';
import { Pictures } from '@octavo/web/pictures';
import { addTrailingSlashes, createHttpServer, trustProxySetting } from '@octavo/web/server';
import { createPollsAdmin, pollModels } from './admin.ts';
import { addApi } from './api.ts';
import { ManageTokens } from './making/maker.ts';
import { addPages } from './pages.ts';
import { PollReads } from './poll-reads.ts';
import { WatchedValues } from './results/watched-values.ts';
import { type Tables, watchedPolls } from './store.ts';
import { VoteCookie } from './votes/vote-cookie.ts';
import { Votes } from './votes/votes.ts';

export { exportResults, exportVotes } from './results/export.ts';

const limitMax = 1_000_000;

const settings = {
  ...databaseSettings,
  ...accountSettings,
  ...oidcSettings,
  POLLS_SECRET: text({
    secret: true,
    minLength: 32,
    help: 'Signs the cookies of polls; kept in its database if unset',
  }),
  POLLS_URL: text({
    help: 'Public address of the polls, for links that are shared; that of each request if unset',
  }),
  POLLS_OPEN: flag({
    default: false,
    help: 'Lets anyone make polls without an account; such polls are found only by their link',
  }),
  POLLS_LIMIT_MADE: integer({
    default: 30,
    min: 0,
    max: limitMax,
    help: 'Polls per account and hour, made on the pages; 0 means no limit',
  }),
  POLLS_LIMIT_MADE_ADDRESS: integer({
    default: 10,
    min: 0,
    max: limitMax,
    help: 'Polls per client address and hour, made without an account; 0 means no limit',
  }),
  TRUST_PROXY: trustProxySetting,
} satisfies Settings;

/** Questions with choices to vote on. */
export const polls = defineService({
  name: 'polls',
  summary: 'Polls: questions with choices to vote on, and live results',
  settings,
  migrations: [
    accountMigrations,
    adminMigrations,
    tokenMigrations,
    healthMigrations,
    limitMigrations,
    oidcMigrations,
    new URL('./migrations/', import.meta.url),
  ],
  checks: [checkOidc],
  async build({ config, context, stack, openDatabase }) {
    const { clock, log, metrics } = context;
    const database = await openDatabase<Tables>();
    const accounts = await openAccounts({ database, config, clock, log, stack, words: ['octavo', 'polls'] });
    const secret = await accounts.secret('polls', config.POLLS_SECRET);
    // Before the server, whose requests in flight go on to use it while the service stops.
    const pictures = stack.use(new Pictures());
    const server = stack.use(
      await createHttpServer({
        name: 'polls',
        context,
        title: 'Polls',
        description: 'Questions with choices to vote on. Speaks the dialect of Django REST Framework.',
        checks: { database: databaseCheck({ database, log }) },
        ...drfErrors,
        ...tokenScheme,
        trustedProxy: config.TRUST_PROXY,
      }),
    );
    rowGauge(metrics, database, {
      name: 'polls_questions',
      help: 'Questions of all polls.',
      table: 'question',
    });
    const votes = new Votes({ database, clock, secret, metrics });
    const voteCookie = new VoteCookie(secret);
    const polls = new PollReads({ database, clock });
    const read = (questions: readonly number[]) =>
      database.read((session) => watchedPolls(session, questions));
    const watching = { everyMs: 250, watchersMax: 10_000, gauge: 'polls_watchers', metrics, log };
    const live = new WatchedValues({ read, ...watching });
    server.app.addHook('preClose', async () => live[Symbol.dispose]());
    addTrailingSlashes(server.app, '/polls/');
    const models = pollModels(clock);
    const oidc = await openStaffSignIn(accounts, {
      config,
      publicUrl: config.POLLS_URL,
      database,
      context,
      name: 'polls',
      title: 'Polls',
      secret,
      stack,
    });
    const admin = createPollsAdmin({ accounts, database, clock, models, oidc });
    const history = new RowHistory(models);
    const pageTokens = new PageTokens({ secret, clock });
    const shared = { database, clock, polls, votes, voteCookie, pageTokens };
    const making = {
      database,
      accounts,
      clock,
      history,
      tokens: new ManageTokens({ secret, clock }),
      isOpen: config.POLLS_OPEN,
      sharedLimits: stack.use(new SharedLimits({ database, clock, log })),
      limits: { account: config.POLLS_LIMIT_MADE, address: config.POLLS_LIMIT_MADE_ADDRESS },
    };
    const publicUrl = config.POLLS_URL;
    addPages(server.app, { ...shared, making, pictures, live, admin, oidc, secret, publicUrl });
    addApi(server.app, { ...shared, accounts, history, oidc });
    const url = await server.listen();
    const inProduction = config.ADMIN_SETUP_LINK;
    return { url, setupLink: () => setupAddress(accounts, { url, context, inProduction }) };
  },
});

/** The polls without serving them, for the command line. */
export function openPolls(environment: Environment, context: ServiceContext): Promise<Database<Tables>> {
  return openServiceDatabase<Tables>(polls, configOf(polls, environment), context);
}
