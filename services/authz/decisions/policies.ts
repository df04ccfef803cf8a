import { newId } from '@octavo/core';
import { type AccessQuery, defaultDeny, type PolicyDecision } from './access.ts';
import { type Cedar, loadCedar } from './cedar.ts';
import { type PolicyFiles, readPolicyFiles } from './policy-files.ts';

/** The current policies, parsed. A reload replaces all of them, or none. */
export class Policies implements Disposable {
  readonly #cedar: Cedar;
  readonly #folder: string;
  // Cedar stores parsed policies under a name for the whole process.
  readonly #parsedName = newId();
  #files: PolicyFiles;
  #cache = new Map<string, PolicyDecision>();
  #reloading: Promise<unknown> = Promise.resolve();

  static async open(folder: string): Promise<Policies> {
    const cedar = await loadCedar();
    return new Policies(cedar, folder, await readPolicyFiles(cedar, folder));
  }

  private constructor(cedar: Cedar, folder: string, files: PolicyFiles) {
    this.#cedar = cedar;
    this.#folder = folder;
    this.#files = files;
    this.#use(files);
  }

  get ids(): string[] {
    return Object.keys(this.#files.policies);
  }

  get version(): string {
    return this.#files.version;
  }

  get warnings(): readonly string[] {
    return this.#files.warnings;
  }

  /** Reads the folder again; true if it changed. If it is not valid, throws and leaves the current policies in force. */
  reload(): Promise<boolean> {
    const reloaded = this.#reloading.then(() => this.#reload());
    this.#reloading = reloaded.catch(() => {});
    return reloaded;
  }

  /**
   * Returns the decision of the policies. It depends only on them and the query, so it is cached until they change. Throws if a
   * policy cannot be evaluated: Cedar would skip it, even one that forbids.
   */
  evaluate = (query: AccessQuery): PolicyDecision => {
    const key = Object.values(query).join('\n');
    const known = this.#cache.get(key);
    if (known) return known;
    const decision = this.#evaluate(query);
    if (this.#cache.size >= cachedMax) this.#cache.clear();
    this.#cache.set(key, decision);
    return decision;
  };

  [Symbol.dispose](): void {
    this.#cedar.preparsePolicySet(this.#parsedName, { staticPolicies: {} });
  }

  async #reload(): Promise<boolean> {
    const files = await readPolicyFiles(this.#cedar, this.#folder);
    if (files.version === this.#files.version) return false;
    this.#use(files);
    this.#files = files;
    return true;
  }

  #use({ schema, policies }: PolicyFiles): void {
    const outcomes = [
      this.#cedar.preparseSchema(this.#parsedName, schema),
      this.#cedar.preparsePolicySet(this.#parsedName, { staticPolicies: policies }),
    ];
    if (outcomes.some((outcome) => outcome.type === 'failure')) throw new Error(JSON.stringify(outcomes));
    this.#cache = new Map();
  }

  #evaluate(query: AccessQuery): PolicyDecision {
    const { uid, username, role, mfaVerified, resourceType, action } = query;
    const principal = { type: 'Account', id: String(uid) };
    const result = this.#cedar.statefulIsAuthorized({
      principal,
      action: { type: 'Action', id: action },
      resource: { type: 'Resource', id: resourceType },
      context: { mfaVerified },
      entities: [{ uid: principal, attrs: { uid, username }, parents: [{ type: 'Role', id: role }] }],
      preparsedSchemaName: this.#parsedName,
      validateRequest: true,
      preparsedPolicySetId: this.#parsedName,
    });
    if (result.type === 'failure') throw new Error(JSON.stringify(result.errors));
    const { decision, diagnostics } = result.response;
    if (diagnostics.errors.length > 0) throw new Error(JSON.stringify(diagnostics.errors));
    return { allowed: decision === 'allow', policy: diagnostics.reason.sort()[0] ?? defaultDeny };
  }
}

const cachedMax = 10_000;
