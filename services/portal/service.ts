import { isLoopback, newSecret } from '@octavo/core';
import { defineService } from '@octavo/data/service';
import { checkOidc, oidcSettings, providerOf } from '@octavo/people/sign-in';
import { createHttpServer } from '@octavo/web/server';
import { ActivityMonitor, type PortalMetrics } from './activity.ts';
import { DemoData, type SeedCommand } from './demo-data.ts';
import { addPages } from './pages.ts';
import { PortalPeople } from './people.ts';
import type { LoggedError } from './recent-errors.ts';
import type { SampleRequest } from './requests.ts';
import type { Entrances, SignIn, SuiteSignIn } from './sites.ts';

export interface PortalDeps {
  /** Ways into each service besides its address. */
  readonly entrances: Readonly<Record<string, Entrances>>;
  /** Instructions for signing in, by service. */
  readonly signInHints: Readonly<Record<string, string | undefined>>;
  /** Metrics that the pages show, by service. */
  readonly metrics: PortalMetrics;
  /** The last errors in the log of this process, newest first. */
  recentErrors(): readonly LoggedError[];
  /** Folders for mails that are not sent, by service. */
  readonly mailFolders: Readonly<Record<string, string>>;
  /** Requests to try out, by service. */
  readonly samples: Readonly<Record<string, readonly SampleRequest[]>>;
  /** Accounts for trying things out; none in production. */
  demoSignIns(): Promise<readonly SignIn[]>;
  /** The sign-in of all services, where there is one. */
  readonly signIn?: SuiteSignIn | undefined;
  /** Demo data for the services that run in this process; absent if they run apart from the portal. */
  readonly seeding: { readonly seedable: readonly string[]; readonly command: SeedCommand } | undefined;
  /** The services are on PostgreSQL, so `octavo seed` needs its address too. */
  readonly needsDatabaseUrl: boolean;
}

/** The front door of the suite: all services, how they are and what goes on. */
export const portal = defineService<typeof oidcSettings, PortalDeps>({
  name: 'portal',
  summary: 'The running services and their addresses',
  settings: oidcSettings,
  checks: [checkOidc],
  async build({ config, context, deps, stack }) {
    const { clock, dataFolder, environment, host, log } = context;
    const server = stack.use(
      await createHttpServer({
        name: 'portal',
        context,
        title: 'Octavo',
        description: 'The running services and their addresses.',
      }),
    );
    const sites = () => context.suite?.sites() ?? [];
    const others = () => sites().filter(({ name }) => name !== 'portal');
    const activity = new ActivityMonitor(others, deps.metrics);
    stack.use(activity.start(log));
    const isLocal = environment !== 'production' && isLoopback(host);
    const { seeding, needsDatabaseUrl } = deps;
    // Sessions are in memory, so the key need not survive a restart.
    const secret = newSecret();
    const provided = providerOf(config);
    const people = provided && new PortalPeople(provided, context, secret);
    if (people) stack.use(people.work(log));
    addPages(server.app, {
      clock,
      secret,
      people,
      sites,
      activity,
      entrances: deps.entrances,
      signInHints: deps.signInHints,
      recentErrors: deps.recentErrors,
      trial: isLocal
        ? {
            signIns: deps.demoSignIns,
            suiteSignIn: deps.signIn,
            samples: deps.samples,
            mails: {
              dataFolder,
              byService: deps.mailFolders,
              titleOf: (service) => sites().find(({ name }) => name === service)?.title ?? service,
            },
            seeding: seeding && {
              seedable: seeding.seedable,
              dataFolder,
              needsDatabaseUrl,
              demoData: stack.use(new DemoData(seeding.command, () => activity.readAgain())),
            },
          }
        : undefined,
    });
    const waitingAt = (name: string) => activity.of(name)?.waiting ?? [];
    return { url: await server.listen(), waitingAt };
  },
});
