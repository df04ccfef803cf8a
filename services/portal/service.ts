import type { Config, Settings } from '#kit/config.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { newSecret } from '#kit/ids.ts';
import type { DemoSignIn, Running, Service, ServiceContext } from '#kit/service.ts';
import { addPages } from './pages.ts';
import type { Site } from './site.ts';

const settings = {} satisfies Settings;

export interface PortalNeeds {
  /** What runs and can be opened; the portal leaves itself out. */
  sites(): Promise<readonly Site[]>;
  /** Accounts for trying things out; none in production. */
  demoSignIns(): Promise<readonly DemoSignIn[]>;
}

/** One screen that says what runs and where. */
export const portal: Service<typeof settings, PortalNeeds> = {
  name: 'portal',
  summary: 'What runs here, and where',
  settings,
  start,
};

async function start(
  _config: Config<typeof settings>,
  context: ServiceContext,
  needs: PortalNeeds,
): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(
    await createHttpServer({
      name: 'portal',
      context,
      title: 'Portal',
      description: 'What runs here, and where.',
    }),
  );
  const { clock, environment, host } = context;
  const mayShowSignIns = environment !== 'production' && isLoopback(host);
  // Nobody signs in here, so that sealing what outlives the process is not needed.
  addPages({ app: server.app, clock, secret: newSecret(), needs, mayShowSignIns });
  const url = await server.listen();
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
