/** Parts of sign-ins: addresses, cookies, codes, secrets, and limits against guessing. */
export { type AuditFacts, AuditTrail, logSignIn } from './auth/audit.ts';
export { normalizeEmail } from './auth/email.ts';
export { Encryption } from './auth/encryption.ts';
export { lockoutSettings } from './auth/passwords/lockout-settings.ts';
export { RateLimiter, type RateVerdict } from './auth/rate-limiter.ts';
export { createSessionCookie, type SessionCookie, type SessionCookieOptions } from './auth/session-cookie.ts';
export { SignedCookie } from './auth/signed-cookie.ts';
export { storedSecret } from './auth/stored-secret.ts';
export { TokenBucket } from './auth/token-bucket.ts';
export { bearerToken } from './auth/tokens/bearer.ts';
export { base32, matchingTotpStep, otpauthUrl, totpCode, totpSecretBytes } from './auth/totp.ts';
export { typedDigits } from './auth/typed-code.ts';
export type { Visitor } from './auth/visitor.ts';
