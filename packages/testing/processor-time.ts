/**
 * Processor time in milliseconds that this process uses while some work is done, with all its threads: other programs on the machine do
 * not change it, as they change the time on the wall.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const tickMs = 2;

/**
 * The result of some work, and the longest in milliseconds of processor time that this thread computed meanwhile without a turn of its
 * event loop, so that nothing else was served.
 */
export async function longestTurnOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly longestMs: number }> {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(look, tickMs);
  try {
    const result = await work();
    look();
    return { result, longestMs };
  } finally {
    clearInterval(timer);
  }
}
