import { readdirSync } from 'node:fs';
import { cacheBytes, productVersion } from '@octavo/core';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Adds the process metrics with their usual Prometheus names, unless the registry has them already. */
export function addProcessMetrics(registry: Registry): void {
  if (registry.getSingleMetric('process_cpu_seconds_total')) return;
  const registers = [registry];
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  const version = productVersion();
  new Gauge({
    name: 'octavo_build_info',
    help: 'Version of the program.',
    labelNames: ['version'],
    registers,
  })
    .labels(version)
    .set(1);
  const gauges: Record<string, [help: string, value: () => number]> = {
    process_resident_memory_bytes: ['Resident memory.', () => process.memoryUsage.rss()],
    process_start_time_seconds: ['When the process started, Unix time.', startTimeSeconds],
    process_open_fds: ['Open file descriptors.', openDescriptors],
    nodejs_heap_used_bytes: ['Used JavaScript heap.', () => process.memoryUsage().heapUsed],
    nodejs_external_memory_bytes: [
      'Memory of buffers outside the JavaScript heap.',
      () => process.memoryUsage().external,
    ],
  };
  new Gauge({
    name: 'cache_bytes',
    help: 'Memory that bounded caches of the process take, estimated.',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const [cache, bytes] of cacheBytes()) this.set({ cache }, bytes);
    },
  });
  for (const [name, [help, value]] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(orNaN(value));
      },
    });
  }
}

function startTimeSeconds(): number {
  return Date.now() / 1000 - process.uptime();
}

/** Available on Linux only. */
function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** The value, or NaN: without a free file descriptor even the memory cannot be read. */
function orNaN(value: () => number): number {
  try {
    return value();
  } catch {
    return Number.NaN;
  }
}
