/** A service of the suite as visitors know it. */
export interface SuiteSite {
  /** Name of the service for programs, such as `gateway`. */
  readonly name: string;
  /** Name for people, such as `Posts`. */
  readonly title: string;
  /** One sentence about the service for visitors; empty if only the address is known. */
  readonly summary: string;
  /** Mark: the name of an icon and of a color. */
  readonly mark: Mark;
  readonly url: string;
  /** True if it signs people in by the provider of the suite. */
  readonly hasOneSignIn?: boolean;
  /** True for the provider. */
  readonly isProvider?: boolean;
}

/** The icon and the color accent that stand for a service. Names are those of `packages/web/html/marks.ts`; others get the mark of the suite. */
export interface Mark {
  readonly icon: string;
  readonly accent: string;
}

/** Records that wait for the administrators of a service. */
export interface Waiting {
  /** Such as `4 open reports`. */
  readonly text: string;
  /** Path of the list that has them. */
  readonly path: string;
}

/** The services that a visitor can go to from a service. */
export interface Suite {
  /** The service itself. */
  readonly own: Omit<SuiteSite, 'url'>;
  /** All services of the suite that can be opened, the portal first; empty if none but this one is known. */
  sites(): readonly SuiteSite[];
  /**
   * The HTML of a menu of these sites, empty if there is none.
   * @param visitor.origin address of the request, whose host name stands in for a service that listens on all addresses
   * @param visitor.isSignedIn true to keep the visitor signed in where the links lead
   * @param visitor.isAdministrator true to show what waits for administrators
   */
  menu(visitor: {
    readonly origin: string;
    readonly isSignedIn: boolean;
    readonly isAdministrator?: boolean;
  }): string;
  /** Records that wait for administrators of a service, as far as they are known. */
  waitingAt(name: string): readonly Waiting[];
  /** The mark of the service as SVG. */
  readonly iconFile: string;
}

/** The service itself among the sites of its suite; undefined if it is not among them. */
export function ownSite(suite: Suite | undefined): SuiteSite | undefined {
  return suite?.sites().find(({ name }) => name === suite.own.name);
}

/** Path at which a service begins its sign-in by the provider of the suite. */
export const signInPath = '/sign-in/oidc';

/** Address of the icon of a service that belongs to a suite. */
export const iconAddress = '/icon.svg';

/** Reads `name=https://…,name=https://…` into addresses without a slash at the end, by name. Throws an `Error` that starts with "must be". */
export function parseSites(text: string): Map<string, string> {
  const sites = text.split(',').map((entry): [string, string] => {
    const [, name, address = ''] = /^\s*([\w-]+)=(\S+)\s*$/.exec(entry) ?? [];
    const url = URL.parse(address);
    const isWeb = url && ['http:', 'https:'].includes(url.protocol) && !url.username && !url.password;
    if (name === undefined || !isWeb)
      throw new Error('must be name=https://... of each service, with commas between');
    return [name, url.href.replace(/\/$/, '')];
  });
  const byName = new Map(sites);
  if (byName.size < sites.length) throw new Error('must be names that differ');
  return byName;
}
