import { addressOf, type DomainTool, domainTools } from './catalog.ts';
import { type DomainApi, DomainApiError } from './domain-api.ts';
import type { Finding } from './question/query.ts';
import {
  type ApiData,
  type ApiRecord,
  type DataKind,
  dataKinds,
  type StepStatus,
  type TraceStep,
} from './trace.ts';

export const callsMax = 6;
export const depthMax = 3;
const allCallsMs = 10_000;

export type Params = Readonly<Record<string, unknown>>;

export interface CallOptions {
  /** The step whose answer led to this call. */
  readonly parent?: number | undefined;
  readonly reason: string;
  /** Records that count; all of them if it is not given. */
  readonly only?: (record: ApiRecord) => boolean;
}

/** A step with its result. */
export interface Called {
  readonly step: TraceStep;
  readonly rows: readonly ApiRecord[];
}

/** Another source of tools, such as an MCP server. */
export interface ForeignTool {
  readonly name: string;
  call(params: Params, signal: AbortSignal): Promise<readonly ApiRecord[]>;
}

export interface ToolCallsOptions {
  readonly api: DomainApi | undefined;
  readonly signal: AbortSignal;
  /** Just before a call is made. */
  readonly onCall?: () => void;
  readonly onStep: (step: TraceStep) => void;
}

/** The calls of one turn, within its budget, and their results. */
export class ToolCalls {
  readonly trace: TraceStep[] = [];
  /** Records that answer parts of the question. */
  readonly findings: Finding[] = [];
  /** Steps that only led to others. */
  readonly told = new Set<number>();
  /** True if names cached in earlier turns decided on the calls. */
  hasUsedCache = false;
  /** True if the domain API did not list its names, so that a name in a question may go unnoticed. */
  isWithoutNames = false;
  readonly #options: ToolCallsOptions;
  readonly #signal: AbortSignal;
  readonly #records = new Map<DataKind, Map<string, { record: ApiRecord; steps: Set<number> }>>();
  readonly #made = new Set<string>();
  readonly #texts = new Map<number, string>();
  #count = 0;
  #last = 0;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, AbortSignal.timeout(allCallsMs)]);
    for (const kind of dataKinds) this.#records.set(kind, new Map());
  }

  get hasBudget(): boolean {
    return this.#count < callsMax && !this.#signal.aborted;
  }

  /** Number of calls that were really made. */
  get count(): number {
    return this.#count;
  }

  /** The step in which the domain data could not be asked, if there is one. A refusal of the parameters is an answer. */
  get failed(): TraceStep | undefined {
    return this.trace.find(
      ({ status, method, attempts, http_status: http }) =>
        status === 'error' &&
        method === 'GET' &&
        attempts > 0 &&
        !(http !== null && http >= 400 && http < 500 && ![401, 403, 429].includes(http)),
    );
  }

  /** Errors of the calls, for the reader of the answer. */
  get warnings(): string[] {
    const why = this.failed?.error ?? (this.isWithoutNames ? 'It does not tell its names.' : undefined);
    const tools = this.trace.filter(({ status, method }) => status === 'error' && method === 'MCP');
    return [
      ...(why === undefined ? [] : [`The domain data could not be asked. ${why}`]),
      ...new Set(tools.map(({ tool }) => `The tool ${tool} failed.`)),
    ];
  }

  /** Text result of a step, also if it is not a record of the domain API. */
  textOf(step: number): string {
    return this.#texts.get(step) ?? '';
  }

  get data(): ApiData {
    const of = (kind: DataKind) => [...(this.#records.get(kind)?.values() ?? [])].map(({ record }) => record);
    return { team: of('team'), investments: of('investments'), sectors: of('sectors') };
  }

  /** Returns the pointers to a step's records in {@link data}. */
  placesOf(step: number): { pointer: string; record: ApiRecord }[] {
    return dataKinds.flatMap((kind) =>
      [...(this.#records.get(kind)?.values() ?? [])]
        .map(({ record, steps }, index) => ({ pointer: `/${kind}/${index}`, record, steps }))
        .filter(({ steps }) => steps.has(step)),
    );
  }

  /** The pointer to a record in {@link data}. */
  pointerOf(record: ApiRecord): string | undefined {
    for (const kind of dataKinds) {
      const index = [...(this.#records.get(kind)?.keys() ?? [])].indexOf(keyOf(record));
      if (index >= 0) return `/${kind}/${index}`;
    }
    return undefined;
  }

  /** Leaves out what steps brought that turned out to be about something else. */
  forget(steps: readonly number[]): void {
    for (const step of steps) {
      this.told.add(step);
      for (const records of this.#records.values())
        for (const [key, { steps: of }] of records) {
          of.delete(step);
          if (of.size === 0) records.delete(key);
        }
    }
  }

  /** Calls a tool of the domain API. What goes wrong is in the step; it throws only if the turn was stopped. */
  async call(name: string, params: Params, options: CallOptions): Promise<Called> {
    const tool = domainTools.find((each) => each.name === name);
    const step = this.#begin(name, params, options);
    if (!tool || !this.#options.api) return this.#refused(step, 'error', 'There is no such tool.');
    const address = attempt(() => addressOf(tool, params));
    if (!address) return this.#refused(step, 'error', 'The parameter id is required.');
    const known = { ...step, path: address.path, params: address.query };
    const refusal = this.#refusalOf(`${address.path}?${new URLSearchParams(address.query)}`, options);
    if (refusal) return this.#refused(known, refusal.status, refusal.message);
    this.#count++;
    this.#options.onCall?.();
    return this.#make(tool, known, options);
  }

  /** Calls a tool of another server under the same budget. */
  async callForeign(tool: ForeignTool, params: Params, options: CallOptions): Promise<Called> {
    const step = { ...this.#begin(tool.name, params, options), method: 'MCP' };
    const refusal = this.#refusalOf(`${tool.name} ${JSON.stringify(params)}`, options);
    if (refusal) return this.#refused(step, refusal.status, refusal.message);
    this.#count++;
    this.#options.onCall?.();
    const startMs = performance.now();
    try {
      const rows = await tool.call(params, this.#signal);
      return this.#finish(step, startMs, { attempts: 1, result_count: rows.length }, rows);
    } catch {
      this.#options.signal.throwIfAborted();
      return this.#finish(step, startMs, { status: 'error', attempts: 1, error: 'The tool failed.' }, []);
    }
  }

  #begin(tool: string, params: Params, { parent, reason }: CallOptions): TraceStep {
    return {
      step: ++this.#last,
      parent: parent ?? null,
      tool,
      method: 'GET',
      path: '',
      params,
      reason,
      status: 'skipped',
      http_status: null,
      attempts: 0,
      cached: false,
      duration_ms: 0,
      result_count: 0,
      truncated: false,
    };
  }

  #refusalOf(key: string, { parent }: CallOptions): { status: StepStatus; message: string } | undefined {
    const skipped = (message: string) => ({ status: 'skipped', message }) as const;
    if (this.#made.has(key)) return skipped('The same call was made before.');
    if (this.#count >= callsMax) return skipped(`A turn makes at most ${callsMax} calls.`);
    if (this.#depthOf(parent) >= depthMax) return skipped(`Calls lead at most ${depthMax} steps on.`);
    this.#options.signal.throwIfAborted();
    if (this.#signal.aborted) return skipped('The time for calls is over.');
    this.#made.add(key);
    return undefined;
  }

  async #make(tool: DomainTool, step: TraceStep, { only = () => true }: CallOptions): Promise<Called> {
    const startMs = performance.now();
    try {
      const api = this.#options.api as DomainApi;
      const { path, params } = step;
      const got = await api.get(path, params as Record<string, string>, this.#signal);
      const { status, attempts, truncated } = got;
      const rows = got.rows.filter(only);
      for (const record of rows) this.#add(tool.kind, record, step.step);
      const told = { http_status: status, attempts, result_count: rows.length, truncated };
      return this.#finish(step, startMs, told, rows);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      const failed = error instanceof DomainApiError ? error : undefined;
      const message = failed?.message ?? 'The time for calls is over.';
      const http = { http_status: failed?.status ?? null, attempts: failed?.attempts ?? 1 };
      return this.#finish(step, startMs, { status: 'error', ...http, error: message }, []);
    }
  }

  #finish(step: TraceStep, startMs: number, got: Partial<TraceStep>, rows: readonly ApiRecord[]): Called {
    const duration_ms = Math.round((performance.now() - startMs) * 10) / 10;
    const status = rows.length > 0 ? 'ok' : 'empty';
    return this.#keep({ ...step, status, duration_ms, ...got }, rows);
  }

  #refused(step: TraceStep, status: StepStatus, error: string): Called {
    return this.#keep({ ...step, status, error }, []);
  }

  #keep(step: TraceStep, rows: readonly ApiRecord[]): Called {
    this.trace.push(step);
    if (rows.length > 0) this.#texts.set(step.step, JSON.stringify(rows));
    this.#options.onStep(step);
    return { step, rows };
  }

  #add(kind: DataKind, record: ApiRecord, step: number): void {
    const records = this.#records.get(kind);
    const known = records?.get(keyOf(record));
    if (known) known.steps.add(step);
    else records?.set(keyOf(record), { record, steps: new Set([step]) });
  }

  #depthOf(parent: number | undefined): number {
    let depth = 0;
    for (let at = parent ?? null; at !== null; depth++) {
      at = this.trace.find(({ step }) => step === at)?.parent ?? null;
    }
    return depth;
  }
}

function keyOf(record: ApiRecord): string {
  return String(record.id ?? record.slug ?? JSON.stringify(record));
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
