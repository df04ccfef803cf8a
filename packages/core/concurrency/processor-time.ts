import { readFile } from 'node:fs/promises';

/** Linux reports 100 ticks a second on every machine. */
const tickMs = 10;

/** Milliseconds of processor time that a process and its threads have used; 0 if the system does not tell, or if there is no such process. */
export async function processorTimeMs(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in parentheses, may have spaces. The state comes after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs;
}
