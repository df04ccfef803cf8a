import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AppError } from '@octavo/core';
import type { Cedar } from './cedar.ts';

/** Policies that passed every check, by id. */
export interface PolicyFiles {
  readonly schema: string;
  readonly policies: Readonly<Record<string, string>>;
  /** Identifies this set in the log: the first 12 hex digits of the SHA-256 of its texts. */
  readonly version: string;
  readonly warnings: readonly string[];
}

export const shippedPolicies = fileURLToPath(new URL('policies', import.meta.url));

/** Reads every `.cedar` file of a folder. Throws `invalid_input` with the problem and its place. */
export async function readPolicyFiles(cedar: Cedar, folder: string): Promise<PolicyFiles> {
  const schema = await readFile(new URL('policies/authz.cedarschema', import.meta.url), 'utf8');
  const policies: Record<string, string> = Object.create(null);
  const fileNames = (await listFolder(folder)).filter((name) => name.endsWith('.cedar')).sort();
  if (fileNames.length === 0) throw invalidPolicies(`${folder} contains no .cedar file`);
  for (const fileName of fileNames) {
    const text = await readFile(`${folder}/${fileName}`, 'utf8');
    for (const [id, policy] of parseFile(cedar, fileName, text)) {
      if (policies[id] !== undefined)
        throw invalidPolicies(`${fileName}: there is another policy @id("${id}")`);
      policies[id] = policy;
    }
  }
  const warnings = validate(cedar, schema, policies);
  return { schema, policies, version: versionOf(policies), warnings };
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw invalidPolicies(`${folder} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Rejects an empty file: an editor that is saving leaves one for a moment, and a forbidding policy would be lost. */
function parseFile(cedar: Cedar, fileName: string, text: string): [string, string][] {
  const parts = cedar.policySetTextToParts(text);
  if (parts.type === 'failure') throw invalidPolicies(`${fileName}${describe(parts.errors, text)}`);
  if (parts.policy_templates.length > 0)
    throw invalidPolicies(`${fileName}: policy templates are not supported`);
  if (parts.policies.length === 0) throw invalidPolicies(`${fileName}: contains no policy`);
  return parts.policies.map((policy) => [idOf(fileName, policy), policy]);
}

/** Cedar's own result would cost 30 ms more at start. Outside comments and texts, @id can only be the annotation. */
function idOf(fileName: string, policy: string): string {
  for (const [, id] of policy.matchAll(commentsTextsAndIds)) if (id) return id;
  throw invalidPolicies(
    `${fileName}: each policy needs @id("...") of a-z 0-9 -; this one has none: ${policy}`,
  );
}

const commentsTextsAndIds = /\/\/[^\n]*|@id\s*\(\s*"([a-z0-9][a-z0-9-]{0,63})"\s*\)|"(?:[^"\\]|\\.)*"/gs;

function validate(cedar: Cedar, schema: string, policies: Record<string, string>): string[] {
  const result = cedar.validate({ schema, policies: { staticPolicies: policies } });
  if (result.type === 'failure') throw invalidPolicies(`the schema${describe(result.errors, schema)}`);
  const errors = result.validationErrors.map(({ error }) => withHelp(error));
  if (errors.length > 0) throw invalidPolicies(errors.join('; '));
  return result.validationWarnings.map(({ error }) => withHelp(error));
}

interface Problem {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly start: number; readonly label: string | null }[];
}

function describe(errors: readonly Problem[], text: string): string {
  return errors.map((error) => `${lineOf(error, text)}: ${withHelp(error)}`).join('; ');
}

function lineOf({ sourceLocations: [location] = [] }: Problem, text: string): string {
  if (!location) return '';
  const before = Buffer.from(text).subarray(0, location.start).toString();
  return ` line ${before.split('\n').length}`;
}

function withHelp({ message, help }: Problem): string {
  return help ? `${message} (${help})` : message;
}

function versionOf(policies: Record<string, string>): string {
  const sorted = Object.keys(policies).sort();
  const hash = createHash('sha256');
  for (const id of sorted) hash.update(`${id}\0${policies[id]}\0`);
  return hash.digest('hex').slice(0, 12);
}

function invalidPolicies(problem: string): AppError {
  return new AppError('invalid_input', `Access policies: ${problem}`, {
    fields: { AUTHZ_POLICIES: problem },
    reason: 'CONFIG',
  });
}
