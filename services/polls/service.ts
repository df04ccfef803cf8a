import { accountMigrations, accountSettings, openAccounts, setupAddress } from '#kit/accounts/index.ts';
import { adminMigrations } from '#kit/admin/index.ts';
import { type Environment, type Settings, text } from '#kit/config.ts';
import { type Database, databaseSettings } from '#kit/db/index.ts';
import { tokenMigrations, tokenScheme } from '#kit/drf/authtoken/index.ts';
import { drfErrors } from '#kit/drf/errors.ts';
import { trustProxySetting } from '#kit/http/client-address.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { addTrailingSlashes } from '#kit/http/trailing-slash.ts';
import { LiveValues } from '#kit/live-values.ts';
import { configOf, defineService, openServiceDatabase, type ServiceContext } from '#kit/service.ts';
import { createPollsAdmin } from './admin.ts';
import { addApi } from './api.ts';
import { addPages } from './pages.ts';
import { countsOf, type Tables } from './store.ts';
import { Votes } from './votes.ts';

export { exportResults, exportVotes } from './export.ts';

const settings = {
  ...databaseSettings,
  ...accountSettings,
  POLLS_SECRET: text({
    secret: true,
    minLength: 32,
    help: 'Signs the cookies of polls; kept in its database if unset',
  }),
  POLLS_URL: text({
    help: 'Public address of the polls, for links that are shared; that of each request if unset',
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
    new URL('./migrations/', import.meta.url),
  ],
  async build({ config, context, stack, openDatabase }) {
    const { clock, log, metrics } = context;
    const database = await openDatabase<Tables>();
    const accounts = await openAccounts({ database, config, clock, log, stack, words: ['octavo', 'polls'] });
    const secret = await accounts.secret('polls', config.POLLS_SECRET);
    const server = stack.use(
      await createHttpServer({
        name: 'polls',
        context,
        title: 'Polls',
        description: 'Questions with choices to vote on. Speaks the dialect of Django REST Framework.',
        checks: { database: () => database.ping() },
        ...drfErrors,
        ...tokenScheme,
        trustedProxy: config.TRUST_PROXY,
        // A vote is cheap, and whoever watches results is in flight all the time.
        limits: { inFlight: 5_000 },
      }),
    );
    const votes = new Votes({ database, clock, secret, metrics });
    const read = (questions: readonly number[]) => countsOf(database, questions);
    const watching = { everyMs: 250, watchersMax: 1_000, gauge: 'polls_watchers', metrics, log };
    const live = new LiveValues({ read, ...watching });
    server.app.addHook('preClose', async () => live[Symbol.dispose]());
    addTrailingSlashes(server.app, '/polls/');
    const admin = createPollsAdmin({ accounts, database, clock });
    addPages(server.app, { database, votes, live, admin, clock, secret, publicUrl: config.POLLS_URL });
    addApi(server.app, { database, accounts, votes, clock });
    const url = await server.listen();
    const inProduction = config.ADMIN_SETUP_LINK;
    return { url, setupLink: await setupAddress(accounts, { url, context, inProduction }) };
  },
});

/** The polls without serving them, for the command line. */
export function openPolls(environment: Environment, context: ServiceContext): Promise<Database<Tables>> {
  return openServiceDatabase<Tables>(polls, configOf(polls, environment), context);
}
