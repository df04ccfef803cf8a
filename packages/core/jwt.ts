/** JSON Web Tokens, the keys that sign them, and refresh tokens. */
export { createJwt, createPlainJwt, type Jwt, type JwtClaims, type PlainClaims } from './auth/tokens/jwt.ts';
export { KeyRing } from './auth/tokens/key-ring.ts';
export { judgeRefresh, type RefreshFamily, refreshLeewayMs } from './auth/tokens/refresh.ts';
