import { readFile } from 'node:fs/promises';

const pageBytes = 4_096;

/** The memory that a process takes now, in bytes; 0 if the system does not tell, or if there is no such process. */
export async function residentBytes(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) * pageBytes;
}
