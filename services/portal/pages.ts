import type { Clock } from '#kit/clock.ts';
import { loadAssets } from '#kit/html/assets.ts';
import type { Frame } from '#kit/html/layout.ts';
import { servePages } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpApp } from '#kit/http/server.ts';
import type { DemoSignIn } from '#kit/service.ts';
import { reportOn } from './readiness.ts';
import type { Site } from './site.ts';
import { errorPage } from './views/error.ts';
import { homePage } from './views/home.ts';

export interface PageParts {
  readonly app: HttpApp;
  readonly clock: Clock;
  readonly secret: string;
  readonly needs: {
    sites(): Promise<readonly Site[]>;
    demoSignIns(): Promise<readonly DemoSignIn[]>;
  };
  readonly mayShowSignIns: boolean;
}

const sessionSeconds = 86_400;

export function addPages({ app, clock, secret, needs, mayShowSignIns }: PageParts): void {
  servePages<never>(
    app,
    {
      name: 'portal',
      secret,
      sessionSeconds,
      clock,
      assets: loadAssets(),
      errorPage: (visit, error) => errorPage(frameOf(visit), error, visit.request.id),
    },
    (routes) =>
      routes.get('/', async (visit) => {
        const sites = await needs.sites();
        const others = sites.filter(({ name }) => name !== 'portal');
        const [reports, signIns] = await Promise.all([
          reportOn(others),
          mayShowSignIns ? needs.demoSignIns() : [],
        ]);
        return homePage(frameOf(visit), { reports, signIns });
      }),
  );
}

function frameOf(visit: Visit<never>): Frame {
  return { ...visit.frame(), service: 'Octavo', navigation: [], flash: visit.takeFlash() };
}
