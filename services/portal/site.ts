/** A service that can be opened. */
export interface Site {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly url: string;
}

/** How a service answers when asked whether it is ready. */
export type SiteState = 'ready' | 'not ready' | 'no answer';

export interface SiteReport extends Site {
  readonly state: SiteState;
}
