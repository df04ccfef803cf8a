import { newId } from '#kit/ids.ts';
import { type Answer, defaultDeny, type Question } from './access.ts';
import { type Cedar, loadCedar } from './cedar.ts';
import { type PolicyFiles, readPolicyFiles } from './policy-files.ts';

/** The policies in force, parsed. A reload replaces them all at once, or not at all. */
export class Policies implements Disposable {
  readonly #cedar: Cedar;
  readonly #folder: string;
  // Cedar keeps what it parsed under a name, for the whole process.
  readonly #parsedName = newId();
  #files: PolicyFiles;
  #answers = new Map<string, Answer>();
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

  /** Reads the folder again; true where it changed. Throws, and keeps what is in force, where it is not sound. */
  reload(): Promise<boolean> {
    const reloaded = this.#reloading.then(() => this.#reload());
    this.#reloading = reloaded.catch(() => {});
    return reloaded;
  }

  /**
   * What the policies say. The answer depends on nothing but them and the question, so it is kept until they change.
   * Throws where a policy could not be evaluated: Cedar would pass over it, even one that forbids.
   */
  evaluate = (question: Question): Answer => {
    const key = Object.values(question).join('\n');
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#ask(question);
    if (this.#answers.size >= answersMax) this.#answers.clear();
    this.#answers.set(key, answer);
    return answer;
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
    this.#answers = new Map();
  }

  #ask(question: Question): Answer {
    const { uid, username, role, mfaVerified, resourceType, action } = question;
    const principal = { type: 'Account', id: String(uid) };
    const answer = this.#cedar.statefulIsAuthorized({
      principal,
      action: { type: 'Action', id: action },
      resource: { type: 'Resource', id: resourceType },
      context: { mfaVerified },
      entities: [{ uid: principal, attrs: { uid, username }, parents: [{ type: 'Role', id: role }] }],
      preparsedSchemaName: this.#parsedName,
      validateRequest: true,
      preparsedPolicySetId: this.#parsedName,
    });
    if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors));
    const { decision, diagnostics } = answer.response;
    if (diagnostics.errors.length > 0) throw new Error(JSON.stringify(diagnostics.errors));
    return { allowed: decision === 'allow', policy: diagnostics.reason.sort()[0] ?? defaultDeny };
  }
}

const answersMax = 10_000;
