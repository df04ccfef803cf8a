import { readFile } from 'node:fs/promises';

/** User and system time of a process in microseconds, which Linux counts in hundredths of a second. */
export async function cpuUsOf(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
