import { Counter, Histogram, type Registry } from 'prom-client';
import { defaultStrategy } from '../retrieval/index.ts';
import { domainTools } from '../tools/index.ts';
import type { TurnAnswer } from './turn.ts';

/** Metrics of turns. */
export interface TurnMetrics {
  ended(answer: TurnAnswer): void;
  firstText(seconds: number): void;
}

export function createTurnMetrics(registry: Registry): TurnMetrics {
  const registers = [registry];
  const turns = new Counter({
    name: 'chat_turns_total',
    help: 'Turns by how they were answered.',
    registers,
    labelNames: ['mode', 'strategy', 'outcome'],
  });
  const stages = new Histogram({
    name: 'chat_stage_seconds',
    help: 'Duration of the stages of turns.',
    registers,
    labelNames: ['stage'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  });
  const tokens = new Counter({
    name: 'chat_tokens_total',
    help: 'Tokens of the model.',
    registers,
    labelNames: ['kind'],
  });
  const calls = new Counter({
    name: 'chat_tool_calls_total',
    help: 'Tool calls by outcome.',
    registers,
    labelNames: ['tool', 'status'],
  });
  const firstText = new Histogram({
    name: 'chat_first_text_seconds',
    help: 'Time until the first text of an answer.',
    registers,
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10],
  });
  // Series begin at 0, so that the first of each is seen as an increase.
  for (const stage of ['total', 'retrieval', 'rerank', 'tools', 'generation']) stages.zero({ stage });
  for (const outcome of ['answered', 'abstained', 'cancelled'])
    turns.inc({ mode: 'extractive', strategy: defaultStrategy, outcome }, 0);
  for (const kind of ['input', 'output']) tokens.inc({ kind }, 0);
  for (const { name } of domainTools) calls.inc({ tool: name, status: 'ok' }, 0);
  return {
    firstText: (seconds) => firstText.observe(seconds),
    ended({ strategy, abstained, api_chain_trace: trace, metadata }) {
      const { mode, usage, finish_reason: finish, latency_ms: latency } = metadata;
      const outcome = finish === 'cancelled' ? 'cancelled' : abstained ? 'abstained' : 'answered';
      turns.inc({ mode, strategy, outcome });
      for (const [stage, ms] of Object.entries(latency as Record<string, number>))
        stages.observe({ stage }, ms / 1_000);
      tokens.inc({ kind: 'input' }, usage?.input_tokens ?? 0);
      tokens.inc({ kind: 'output' }, usage?.output_tokens ?? 0);
      for (const { tool, status } of trace) calls.inc({ tool, status });
    },
  };
}
