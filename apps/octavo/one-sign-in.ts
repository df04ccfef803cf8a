import type { Environment, SuiteSite } from '@octavo/core';
import { newSecret } from '@octavo/core';

/** The service that signs people in for the others: it is an OpenID provider. */
export interface SignInProvider {
  readonly issuer: string;
  register(client: {
    readonly name: string;
    readonly secret: string;
    readonly redirects: readonly string[];
    readonly postLogouts: readonly string[];
    readonly backChannel: string;
    readonly isFirstParty: true;
  }): Promise<void>;
  /** The one-time address at which the administrator of all services is created; undefined where there is one. */
  setupAddress(): Promise<string | undefined>;
  /** A one-time address that signs a visitor in to a demo account and leads on to `target`. */
  demoAddress(role: 'administrator' | 'editor' | 'reader', target: string): string;
  /** An access token of a demo account for the service with this address, for 10 minutes. Undefined if it is not registered. */
  demoToken(role: 'administrator' | 'editor' | 'reader', audience: string): Promise<string | undefined>;
}

/** One sign-in for the services of a process. Each has a secret of its own, made at every start. */
export class OneSignIn {
  readonly provider: SignInProvider;
  readonly #secrets = new Map<string, string>();

  constructor(provider: SignInProvider) {
    this.provider = provider;
  }

  /** The settings with which a service is an application of the provider. */
  settingsFor({ name, title }: Pick<SuiteSite, 'name' | 'title'>): Environment {
    const secret = this.#secrets.get(name) ?? newSecret();
    this.#secrets.set(name, secret);
    return {
      OIDC_ISSUER: this.provider.issuer,
      OIDC_CLIENT_ID: title.toLowerCase(),
      OIDC_CLIENT_SECRET: secret,
    };
  }

  /** Makes a service known to the provider, at all addresses under which it is opened. */
  async register({ name, title }: SuiteSite, addresses: readonly string[]): Promise<void> {
    const [first] = addresses;
    await this.provider.register({
      name: title,
      secret: this.#secrets.get(name) as string,
      redirects: addresses.map((address) => `${address}/sign-in/oidc/callback`),
      postLogouts: addresses.map((address) => `${address}/`),
      backChannel: `${first}/sign-in/oidc/back-channel`,
      isFirstParty: true,
    });
  }
}
