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
 * The result of some work, and in milliseconds of processor time what this thread computed meanwhile, and the longest of it without a turn
 * of its event loop, so that nothing else was served.
 */
export async function longestTurnOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly longestMs: number; readonly totalMs: number }> {
  let [longestMs, totalMs] = [0, 0];
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    const turnMs = (user + system) / 1_000;
    longestMs = Math.max(longestMs, turnMs);
    totalMs += turnMs;
    before = process.threadCpuUsage();
  };
  const timer = setInterval(look, tickMs);
  try {
    const result = await work();
    look();
    return { result, longestMs, totalMs };
  } finally {
    clearInterval(timer);
  }
}
