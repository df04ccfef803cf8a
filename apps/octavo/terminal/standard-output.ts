/** `EX_IOERR` of sysexits.h. */
const ioError = 74;

/**
 * Survives a standard output that cannot be written. A reader that stopped early, as in `| head`, is no failure; anything else, such as a
 * full disk, is named once on standard error, and makes the exit status one that says so.
 */
export function guardStandardOutput(program: string, status: number = ioError): void {
  let isTold = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isTold) return;
    isTold = true;
    process.stderr.write(`${program}: standard output cannot be written: ${error.message}\n`);
    process.once('exit', () => {
      process.exitCode = status;
    });
  });
}
