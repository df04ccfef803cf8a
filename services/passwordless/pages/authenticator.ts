import { formProblem } from '#kit/html/form-problem.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../session.ts';
import { otpauthUrl } from '../totp-code.ts';
import { appRemovalPage, appSetUpPage } from '../views/authenticator.ts';
import { recoveryCodesPage } from '../views/recovery-codes.ts';
import { showAccount } from './account.ts';
import type { PageParts } from './parts.ts';
import { frameOf, senderOf, signedIn } from './reader.ts';

/** Authenticator app and recovery codes. */
export function addAuthenticatorPages(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  addSetUp(routes, parts);
  addRemoval(routes, parts);
  routes.get(pageRoutes.recoveryCodes, { access: 'public' }, async (visit) =>
    visit.redirect(pageRoutes.home),
  );
  routes.post(pageRoutes.recoveryCodes, { access: signedIn(parts) }, async ({ visit, reader }) => {
    try {
      const codes = await parts.recoveryCodes.renew(reader, senderOf(visit, parts));
      return recoveryCodesPage(frameOf(visit, parts, reader), codes);
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      visit.reply.code(status);
      return showAccount(visit, parts, reader, problem);
    }
  });
}

function addSetUp(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { totps, totpSignIns, sessions, limits, issuer } = parts;
  for (const path of [pageRoutes.setUpApp, pageRoutes.confirmApp]) {
    routes.get(path, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.home));
  }
  routes.post(pageRoutes.setUpApp, { access: signedIn(parts) }, async ({ visit, reader }) => {
    try {
      await limits.enroll(visit.request, visit.reply);
      const { secret, otpauth_url: url } = await totps.enroll(reader.user.email, {
        caller: reader,
        ...senderOf(visit, parts),
      });
      return appSetUpPage(frameOf(visit, parts, reader), { secret, url });
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      visit.reply.code(status);
      return showAccount(visit, parts, reader, problem);
    }
  });
  routes.post(pageRoutes.confirmApp, { access: signedIn(parts) }, async ({ visit, reader }) => {
    const { email } = reader.user;
    const secret = /^[A-Z2-7]{32}$/.exec(visit.field('secret'))?.[0];
    if (secret === undefined) return visit.redirect(pageRoutes.home);
    const code = visit.field('code').replace(/[\s-]/g, '');
    const again = (status: number, error: string) => {
      visit.reply.code(status);
      const url = otpauthUrl({ secret, issuer, email });
      return appSetUpPage(frameOf(visit, parts, reader), { secret, url, errors: { code: error } });
    };
    if (!/^\d{6}$/.test(code)) return again(400, code === '' ? 'is required' : 'must be six digits');
    try {
      await limits.verify(visit.request, visit.reply);
      const { refresh_token } = await totpSignIns.verify({ email, code }, parts.visitorOf(visit.request));
      // Whoever sets an app up here is signed in already.
      await sessions.revoke(refresh_token);
    } catch (error) {
      const { status, errors, problem } = formProblem(error, { INVALID_CODE: 'code' });
      const wrong = 'is wrong: the app may hold another secret, or the clock of its device is off';
      return again(status, errors.code ? wrong : (problem ?? 'is wrong'));
    }
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The authenticator app is set up.' });
  });
}

function addRemoval(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  routes.get(pageRoutes.removeApp, { access: signedIn(parts) }, async ({ visit, reader }) =>
    appRemovalPage(frameOf(visit, parts, reader)),
  );
  routes.post(pageRoutes.removeApp, { access: signedIn(parts) }, async ({ visit, reader }) => {
    try {
      await parts.totps.remove(reader, senderOf(visit, parts));
    } catch (error) {
      const { status, problem } = formProblem(error, {});
      visit.reply.code(status);
      return appRemovalPage(frameOf(visit, parts, reader), problem);
    }
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The authenticator app is removed.' });
  });
}
