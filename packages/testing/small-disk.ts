import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { testFolder } from './folder.ts';

/** A file system of its own in memory, for tests of full and read-only disks. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves this many bytes, in whole pages. */
  fill(leftBytes?: number): void;
  /** Takes back what `fill` took. */
  free(): void;
  makeReadOnly(): void;
}

/** Reason for the lack of a small disk: `test('…', { skip: mountingIsForbidden() }, …)`. */
export function mountingIsForbidden(): string | false {
  if (process.platform !== 'linux') return 'a small disk needs Linux';
  try {
    execFileSync('umount', [mount(64 * 1024)], { stdio: 'ignore' });
    return false;
  } catch {
    return 'mounting a small disk is not permitted here (it needs root)';
  }
}

/** Mounts a disk, which is removed after the tests of the file. */
export function mountSmallDisk(sizeBytes: number): SmallDisk {
  const disk = mountDisk(sizeBytes);
  after(() => disk[Symbol.dispose]());
  return disk;
}

/** Mounts a disk until it is disposed of. */
export function mountDisk(sizeBytes: number): SmallDisk & Disposable {
  const folder = mount(sizeBytes);
  const filler = join(folder, 'filler');
  const remove = () => void spawnSync('umount', ['--lazy', folder]);
  process.prependOnceListener('exit', remove);
  return {
    folder,
    fill: (leftBytes = 0) => {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)), { flag: 'a' });
      } catch (error) {
        // Another process has taken the rest.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    free: () => rmSync(filler),
    makeReadOnly: () => execFileSync('mount', ['-o', 'remount,ro', folder]),
    [Symbol.dispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}

function mount(sizeBytes: number): string {
  const folder = testFolder('disk');
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', folder], { stdio: 'ignore' });
  return folder;
}
