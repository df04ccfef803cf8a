import type { ErrorCode } from '@octavo/core';
import type { Registry } from 'prom-client';
import { DurationHistogram, type Durations } from './durations.ts';

/** Records the end of one call: `ok` or its error's code, and when it started (`performance.now()`). */
export type NoteCall = (code: ErrorCode | 'ok', startedMs: number) => void;

/**
 * Records calls in the histogram `rpc_client_duration_seconds` or `rpc_server_duration_seconds`, by method and code;
 * does nothing without a registry.
 */
export function callMetrics(
  registry: Registry | undefined,
  side: 'client' | 'server',
): (method: string) => NoteCall {
  if (!registry) return () => () => undefined;
  const histogram = DurationHistogram.in({
    name: `rpc_${side}_duration_seconds`,
    help: side === 'client' ? 'Duration of RPC calls made.' : 'Duration of RPC calls served.',
    labelNames: ['method', 'code'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registry,
  });
  return (method) => {
    const byCode: Partial<Record<string, Durations>> = {};
    return (code, startedMs) => {
      byCode[code] ??= histogram.at({ method, code });
      byCode[code].observe((performance.now() - startedMs) / 1000);
    };
  };
}
