/** The dialect of Django REST Framework. */
export { createTokenAccess, mayView, type TokenAccess } from './authtoken/access.ts';
export { addTokenRoute, tokenScheme } from './authtoken/api.ts';
export { PageTokens, type TokenTables, tokenMigrations } from './authtoken/tokens.ts';
export { serializerFields } from './entity-fields.ts';
export { readId } from './ids.ts';
export { addPagingHeaders, pagingParameters, parameter, readPaging, totalOf } from './paging.ts';
export { recordedWrites } from './recorded-writes.ts';
export { addDrfResource, type ResourceParts } from './resource.ts';
export { bodyTypes, type DrfScope, useDrf } from './scope.ts';
export { serializer } from './serializer.ts';
export { tableWrites } from './table-writes.ts';
