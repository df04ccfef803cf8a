import { type Settings, text } from '#kit/config.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { newSecret } from '#kit/ids.ts';
import { isLoopback } from '#kit/network.ts';
import { defineService } from '#kit/service.ts';
import { addPages } from './pages.ts';
import { parseSites, type SignIn, type Site } from './sites.ts';

export interface PortalDeps {
  /** The running services that can be opened. The portal leaves itself out. */
  sites(): Promise<readonly Site[]>;
  /** Accounts for trying things out; none in production. */
  demoSignIns(): Promise<readonly SignIn[]>;
  /** The services that `octavo seed` has demo data for. */
  readonly seedable: readonly string[];
}

const sitesText = text({
  help: 'Services to list, as name=https://... with commas between; else what runs in this process',
});

const settings = {
  PORTAL_SITES: {
    ...sitesText,
    parse(value: string) {
      parseSites(value);
      return value;
    },
  },
} satisfies Settings;

/** One page that lists the running services. */
export const portal = defineService<typeof settings, PortalDeps>({
  name: 'portal',
  summary: 'The running services and their addresses',
  settings,
  async build({ config, context, deps, stack }) {
    const { clock, environment, host } = context;
    const server = stack.use(
      await createHttpServer({
        name: 'portal',
        context,
        title: 'Portal',
        description: 'The running services and their addresses.',
      }),
    );
    const sites = config.PORTAL_SITES === undefined ? undefined : parseSites(config.PORTAL_SITES);
    const showsSignIns = environment !== 'production' && isLoopback(host);
    addPages(server.app, {
      clock,
      // Nobody signs in here, so the key need not survive a restart.
      secret: newSecret(),
      sites: sites ? async () => sites : deps.sites,
      demoSignIns: async () => (showsSignIns ? deps.demoSignIns() : []),
      // Where several services run apart, commands are for their machines.
      seedable: showsSignIns && !sites ? deps.seedable : [],
    });
    return { url: await server.listen() };
  },
});
