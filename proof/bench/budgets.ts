/**
 * The budgets beside their floors: REST beside plain Fastify with the same calls of the database, GetBudget beside a bare nice-grpc server,
 * and the import of a CSV file. Rounds alternate; the best of each counts, since the machine may have other work.
 *
 *   node proof/bench/budgets.ts [rounds] [seconds] [rest,grpc,import]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { addBudgets, type BudgetsProcess, grpcPort, startBudgetsProcess } from './budgets/start.ts';
import { bests } from './lib/compare.ts';
import { cpuUsOf } from './lib/cpu.ts';
import { offer } from './lib/load.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 3);
const listed = 20;
const importedRows = 100_000;

const parts = process.argv[4]?.split(',') ?? ['rest', 'grpc', 'import'];
if (parts.includes('rest')) await compareRest();
await using ours = await startBudgetsProcess();
const budgetId = await addBudgets(ours, 1);
if (parts.includes('grpc')) await compareGrpc();
if (parts.includes('import')) await measureImport();

async function compareRest(): Promise<void> {
  const floor = await startBudgetsProcess();
  await addBudgets(floor, listed);
  await floor[Symbol.asyncDispose]();
  using bare = await startScript('bare.ts', [floor.folder]);
  await using own = await startBudgetsProcess();
  await addBudgets(own, listed);
  const list = (url: string, { headers }: BudgetsProcess) =>
    rate({ url: `${url}/api/budgets?limit=20`, headers });
  const create = (url: string, { headers }: BudgetsProcess) =>
    rate({ url: `${url}/api/budgets`, method: 'POST', headers, body: '{"name":"Food","limit":500}' });
  show(
    'GET /api/budgets, 20 rows',
    await bests(
      {
        ours: () => list(own.url, own),
        floor: () => list(bare.told, floor),
      },
      rounds,
    ),
  );
  show(
    'POST /api/budgets, durable, 64 clients',
    await bests(
      {
        ours: () => create(own.url, own),
        floor: () => create(bare.told, floor),
      },
      rounds,
    ),
  );
}

async function compareGrpc(): Promise<void> {
  using bare = await startScript('grpc.ts', ['server']);
  const calls = async (address: string) => {
    const args = ['client', address, ours.headers.authorization ?? '', budgetId, String(seconds)];
    using client = await startScript('grpc.ts', args);
    return Number(client.told);
  };
  show(
    'GetBudget over gRPC, 64 in flight',
    await bests(
      {
        ours: () => calls(`127.0.0.1:${grpcPort}`),
        floor: () => calls(bare.told),
      },
      rounds,
    ),
  );
}

async function measureImport(): Promise<void> {
  const lines = Array.from({ length: importedRows }, (_, index) => {
    const day = `2026-${String((index % 12) + 1).padStart(2, '0')}-${String((index % 28) + 1).padStart(2, '0')}`;
    return `${day},Purchase ${index},${((index % 5_000) / 100 + 1).toFixed(2)},Category ${index % 40}`;
  });
  const file = `spentOn,description,amount,category\n${lines.join('\n')}\n`;
  const beforeMb = await residentMb(ours.child);
  const form = new FormData();
  form.append('format', 'csv');
  form.append('budgetId', budgetId);
  form.append('file', new Blob([file]), 'file.csv');
  const beforeUs = await cpuUsOf(ours.child.pid);
  const startedAtMs = performance.now();
  const response = await fetch(`${ours.url}/api/import`, {
    method: 'POST',
    headers: ours.headers,
    body: form,
  });
  const { id } = (await response.json()) as { id: string };
  let task: { status: string; result: unknown } | undefined;
  let peakMb = beforeMb;
  for (; task?.status !== 'completed' && task?.status !== 'failed'; await setTimeout(100)) {
    const answer = await fetch(`${ours.url}/api/tasks/${id}`, { headers: ours.headers });
    // The service may be too busy to tell.
    task = answer.ok ? ((await answer.json()) as typeof task) : undefined;
    peakMb = Math.max(peakMb, await residentMb(ours.child));
  }
  const tookS = (performance.now() - startedAtMs) / 1_000;
  const cpuS = ((await cpuUsOf(ours.child.pid)) - beforeUs) / 1_000_000;
  console.log(
    `import of ${importedRows} rows: ${tookS.toFixed(1)} s, ${cpuS.toFixed(1)} s of CPU time, ${peakMb - beforeMb} MB more; ${JSON.stringify(task?.result)}`,
  );
}

async function rate(load: Parameters<typeof offer>[0]): Promise<number> {
  const { perSecond, failures } = await offer({ ...load, seconds });
  if (failures > 0) throw new Error(`${failures} requests to ${load.url} failed`);
  return perSecond;
}

function show(title: string, { ours = 0, floor = 0 }: Readonly<Record<string, number>>): void {
  console.log(
    `${title}: ${ours.toFixed(0)}/s, floor ${floor.toFixed(0)}/s, ${(ours / floor).toFixed(2)} of it`,
  );
}

/** A script of proof/bench/budgets in a process of its own, and the first thing that it tells. */
async function startScript(name: string, args: string[]): Promise<{ told: string } & Disposable> {
  const child = fork(fileURLToPath(new URL(`./budgets/${name}`, import.meta.url)), args);
  const [told] = (await once(child, 'message')) as [string];
  return { told, [Symbol.dispose]: () => void child.kill() };
}

async function residentMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]) / 1_024);
}
