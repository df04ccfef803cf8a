/** Resources of REST: pages of lists, entity tags, idempotency. */
export { addEntityTag, IfMatch, NotModified } from './rest/conditional.ts';
export { decodeCursor, encodeCursor } from './rest/cursor.ts';
export {
  type Idempotency,
  IdempotencyHeader,
  idempotencyKeyOf,
  idempotencyOf,
  markReplayed,
} from './rest/idempotency-key.ts';
export {
  addLinks,
  addPageHeaders,
  cursorPaging,
  type Links,
  type OffsetRequest,
  offsetLinks,
  offsetPaging,
  type Page,
  type PageRequest,
} from './rest/paging.ts';
export { addList, addResource, IdParams, type ResourceKind } from './rest/resource.ts';
export { checkVersion, type Versions, versionsIn, versionTag } from './rest/versions.ts';
