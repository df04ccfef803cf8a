/** The HTTP server: access, validation, errors, streams, documentation. */
export type { Access, AccessRule, HttpApp } from './http/access.ts';
export { apiTokenPath } from './http/openapi/docs.ts';
export type { ApiDocument, ErrorRequest, HttpError, HttpServerOptions } from './http/options.ts';
export { ReadinessCheck } from './http/probes.ts';
export {
  bodyChunks,
  FormFields,
  keepNumberTexts,
  leaveBody,
  refuseLong,
  takeForms,
  takeJson,
  takeMultipart,
} from './http/requests/body.ts';
export {
  addressOf,
  clientAddress,
  type TrustedProxy,
  trustProxySetting,
} from './http/requests/client-address.ts';
export { answersDuringOverload, OverloadError } from './http/requests/overload.ts';
export {
  type LimitSharedRequest,
  limitRequests,
  limitSharedRequests,
  type RateLimit,
  type RouteLimits,
  rateLimited,
  takeAll,
  takeAllShared,
} from './http/requests/rate-limit.ts';
export { addTrailingSlashes } from './http/requests/trailing-slash.ts';
export { addVary, corsOriginSetting } from './http/responses/cors.ts';
export { matchesAny } from './http/responses/entity-tags.ts';
export { defaultErrorTable, fromFastify, toHttpError } from './http/responses/error-table.ts';
export { eventStreamHeaders, sendEvents, sendNamedEvents } from './http/responses/event-stream.ts';
export { goneSignal } from './http/responses/gone-signal.ts';
export { sendRanged } from './http/responses/ranges.ts';
export { securityHeaders } from './http/responses/security-headers.ts';
export { sendStream, whenDelivered } from './http/responses/stream.ts';
export { createHttpServer, type HttpServer } from './http/server.ts';
export { SchemaMismatch } from './http/validation/compilers.ts';
export { visitorOf } from './http/visitor.ts';
export { acceptWebSockets, refuseForeignOrigin } from './http/web-sockets.ts';
