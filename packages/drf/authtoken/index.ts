export { createTokenAccess, mayView, type TokenAccess, tokenUser } from './access.ts';
export { addTokenRoute, tokenScheme } from './api.ts';
export { PageTokens, type TokensOptions, type TokenTables, tokenMigrations } from './tokens.ts';
