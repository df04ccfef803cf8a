/** The base of everything: settings, errors, ids, time, log, schemas. */
export { boundedFetch, ResponseTooLarge, withinBytes } from './base/bounded-response.ts';
export { cacheBytes, measureCache } from './base/caches.ts';
export { type Clock, FakeClock, systemClock } from './base/clock.ts';
export {
  type Config,
  choice,
  type Environment,
  flag,
  inspectConfig,
  integer,
  problemsOf,
  readConfig,
  refuse,
  rejectSettings,
  type Setting,
  type Settings,
  text,
} from './base/config.ts';
export {
  AppError,
  describeSystemError,
  type ErrorCode,
  type Fields,
  FileProblem,
  notFound,
  problemOf,
  toAppError,
} from './base/errors.ts';
export { newId, newOrderedId, newSecret } from './base/ids.ts';
export { isoDay, isoTime } from './base/iso-time.ts';
export type { Log } from './base/log.ts';
export {
  foldAddress,
  isFromThisMachine,
  isLoopback,
  isProxied,
  listenErrorOf,
  localOrigin,
  networkOf,
} from './base/network.ts';
export { randomBytes } from './base/random.ts';
export {
  allOptional,
  type Entity,
  type EntityFields,
  field,
  labelled,
  labelsOf,
  partsOf,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  withoutLabels,
} from './base/schema.ts';
export {
  iconAddress,
  type Mark,
  ownSite,
  parseSites,
  type Suite,
  type SuiteSite,
  signInPath,
} from './base/suite.ts';
export {
  childTraceparent,
  createTraceparent,
  formatTraceparent,
  parseTraceparent,
  type Traceparent,
} from './base/trace.ts';
export { productVersion } from './base/version.ts';
