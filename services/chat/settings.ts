import { type Config, choice, integer, refuse, type Settings, text } from '@octavo/core';
import { databaseSettings } from '@octavo/data';
import { oidcSettings } from '@octavo/people/sign-in';
import { corsOriginSetting, trustProxySetting } from '@octavo/web/server';
import { dimensionsMax } from './embeddings/index.ts';
import { authModes } from './gate/index.ts';
import { libraryModes } from './library.ts';
import { parseServers } from './mcp/index.ts';
import { usualContextTokens } from './model/index.ts';

const rate = (perMinute: number, help: string) =>
  integer({ default: perMinute, min: 0, max: 1_000_000, help: `${help} in a minute; 0 means no limit` });

/** Settings for sign-in and limits. */
const gateSettings = {
  GATEWAY_AUTH: choice(authModes, { default: 'none', help: 'Sign-in method of clients' }),
  CHAT_API_KEYS: text({
    secret: true,
    help: 'Keys of clients with GATEWAY_AUTH=api_key, with commas between; also as sha256: and the hash in hex',
  }),
  CHAT_JWT_SECRET: text({
    secret: true,
    minLength: 32,
    help: 'Key that tokens are signed with (HS256) with GATEWAY_AUTH=jwt, at least 32 bytes',
  }),
  CHAT_JWKS_URL: text({ help: 'Address of the public keys of tokens, with GATEWAY_AUTH=jwt' }),
  CHAT_JWT_ALGORITHMS: text({
    help: 'Algorithms of tokens, with commas between; HS256, or RS256,ES256,EdDSA with CHAT_JWKS_URL',
  }),
  CHAT_JWT_ISSUER: text({ help: 'The iss that tokens must have, if set' }),
  CHAT_JWT_AUDIENCE: text({ help: 'The aud that tokens must have, if set' }),
  CHAT_RATE_LIMIT: rate(60, 'Questions of a client'),
  UPLOAD_RATE_LIMIT: rate(20, 'Uploads of a client'),
  SESSION_RATE_LIMIT: rate(60, 'Changes of sessions of a client'),
  READ_RATE_LIMIT: rate(600, 'Other requests of a client'),
  CHAT_GENERATIONS_MAX: integer({
    default: 5,
    min: 0,
    max: 10_000,
    help: 'Answers that are written at the same time for a client; 0 means no limit',
  }),
} satisfies Settings;

const modelSettings = {
  LLM_BASE_URL: text({
    help: 'Server with the API of OpenAI, such as http://127.0.0.1:11434/v1; answers are quoted without a model if unset',
  }),
  LLM_MODEL: text({
    help: 'Model that writes answers; several with commas between, the first is the default',
  }),
  LLM_API_KEY: text({ secret: true, help: 'Key for LLM_BASE_URL' }),
  LLM_CONTEXT_TOKENS: integer({
    min: 1_024,
    max: 10_000_000,
    help: `Tokens that the model reads and writes at most, beyond which sources and earlier messages are left out; what its server tells if unset, else ${usualContextTokens}`,
  }),
  LLM_FIRST_TOKEN_TIMEOUT_MS: integer({
    default: 180_000,
    min: 100,
    max: 3_600_000,
    help: 'Longest silence before the first piece of an answer, while the model is loaded and reads',
  }),
  LLM_TIMEOUT_MS: integer({
    default: 30_000,
    min: 100,
    max: 600_000,
    help: 'Longest silence of the model within an answer before the answer is quoted from the sources instead',
  }),
} satisfies Settings;

const embeddingSettings = {
  CHAT_EMBEDDINGS: choice(['auto', 'local', 'off'], {
    default: 'auto',
    help: 'Sentence encoder of this machine without EMBEDDING_BASE_URL: auto for English texts if 2 GB of memory are free, local for all texts, off',
  }),
  EMBEDDING_BASE_URL: text({
    help: 'Server with the embeddings API of OpenAI, such as http://127.0.0.1:11434/v1; CHAT_EMBEDDINGS decides if unset',
  }),
  EMBEDDING_MODEL: text({
    help: 'Model that makes vectors; documents get new ones in the background when it changes',
  }),
  EMBEDDING_API_KEY: text({ secret: true, help: 'Key for EMBEDDING_BASE_URL' }),
  EMBEDDING_DIMENSIONS: integer({
    min: 1,
    max: dimensionsMax,
    help: 'Size of vectors to ask the server for; that of the model if unset',
  }),
  EMBEDDING_TIMEOUT_MS: integer({
    default: 2_000,
    min: 50,
    max: 60_000,
    help: 'Time that a question waits for its vector before only its words are searched; 64 passages wait 30 times as long',
  }),
} satisfies Settings;

const rerankSettings = {
  RERANK_BASE_URL: text({
    help: 'Server with the /rerank API of Cohere, Jina, vLLM, llama.cpp or text-embeddings-inference, such as http://127.0.0.1:8080/v1; the built-in reranker alone if unset',
  }),
  RERANK_MODEL: text({ help: 'Model that orders passages there; not needed where the server has one only' }),
  RERANK_API_KEY: text({ secret: true, help: 'Key for RERANK_BASE_URL' }),
} satisfies Settings;

export const settings = {
  ...databaseSettings,
  CHAT_SECRET: text({
    secret: true,
    requiredInProduction: true,
    minLength: 32,
    help: 'Encrypts the cookies of the chat, at least 32 bytes; else a random one in the data folder',
  }),
  CHAT_LIBRARY: choice(libraryModes, {
    default: 'auto',
    help: 'Who may share documents with everyone: auto for administrators, or all without a sign-in; shared for all who sign in; own for none',
  }),
  ...gateSettings,
  ...modelSettings,
  ...embeddingSettings,
  ...rerankSettings,
  DOMAIN_API_URL: text({
    help: 'Address of the domain data API; that of the portfolio in the same process if unset',
  }),
  DOMAIN_API_KEY: text({
    secret: true,
    help: 'id:secret for the domain data API, if it wants one for tokens',
  }),
  CHAT_MCP_SERVERS: {
    ...text({ help: 'MCP servers whose tools the model may call, as name=address with commas between' }),
    parse(value: string) {
      parseServers(value);
      return value;
    },
  },
  CORS_ORIGIN: corsOriginSetting,
  TRUST_PROXY: trustProxySetting,
  ...oidcSettings,
} satisfies Settings;

export type ChatConfig = Config<typeof settings>;

/** Throws for settings that do not fit each other. */
export function checkSettings(config: ChatConfig): void {
  const problems: Record<string, string> = {};
  const { GATEWAY_AUTH: mode, CHAT_JWT_SECRET: secret, CHAT_JWKS_URL: jwks } = config;
  if (mode === 'api_key' && !config.CHAT_API_KEYS?.split(',').some((key) => key.trim() !== ''))
    problems.CHAT_API_KEYS = 'is required with GATEWAY_AUTH=api_key';
  if (mode === 'jwt' && !secret && !jwks)
    problems.CHAT_JWT_SECRET = 'or CHAT_JWKS_URL is required with GATEWAY_AUTH=jwt';
  if (mode === 'jwt' && secret && jwks) problems.CHAT_JWKS_URL = 'cannot be set beside CHAT_JWT_SECRET';
  if (config.LLM_BASE_URL && !config.LLM_MODEL) problems.LLM_MODEL = 'is required with LLM_BASE_URL';
  if (config.EMBEDDING_BASE_URL && !config.EMBEDDING_MODEL)
    problems.EMBEDDING_MODEL = 'is required with EMBEDDING_BASE_URL';
  for (const name of [
    'CHAT_JWKS_URL',
    'LLM_BASE_URL',
    'EMBEDDING_BASE_URL',
    'RERANK_BASE_URL',
    'DOMAIN_API_URL',
  ] as const) {
    const value = config[name];
    if (value && !/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
      problems[name] = 'must be an HTTP address';
  }
  if (/\bnone\b/i.test(config.CHAT_JWT_ALGORITHMS ?? '')) problems.CHAT_JWT_ALGORITHMS = 'must not be none';
  refuse(problems);
}
