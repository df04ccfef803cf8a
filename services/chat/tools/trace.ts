/** A record of the domain data API, or any other JSON object. */
export type ApiRecord = Readonly<Record<string, unknown>>;

export const dataKinds = ['team', 'investments', 'sectors'] as const;
export type DataKind = (typeof dataKinds)[number];

/** The records that the calls of a turn brought, each once. */
export type ApiData = Readonly<Record<DataKind, readonly ApiRecord[]>>;

export type StepStatus = 'ok' | 'empty' | 'error' | 'skipped';

/** One call of a turn, as clients see it. */
export interface TraceStep {
  readonly step: number;
  /** The step whose answer led to this one. */
  readonly parent: number | null;
  readonly tool: string;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly status: StepStatus;
  readonly http_status: number | null;
  readonly attempts: number;
  readonly cached: boolean;
  readonly duration_ms: number;
  readonly result_count: number;
  readonly truncated: boolean;
  readonly error?: string;
}

export const noData: ApiData = { team: [], investments: [], sectors: [] };
