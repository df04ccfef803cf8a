/** Hashes of passwords by argon2, and the rules for new ones. */
export {
  checkBreachedFile,
  openPasswordRules,
  PasswordRules,
  passwordRuleSettings,
  strengthOf,
  weakPassword,
} from './auth/passwords/password-rules.ts';
export {
  type Hasher,
  isPassword,
  Passwords,
  passwordCost,
  passwordSettings,
} from './auth/passwords/passwords.ts';
