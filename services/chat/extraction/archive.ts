import { strFromU8, type UnzipFileInfo, unzipSync } from 'fflate';
import { unreadable } from '../errors.ts';
import { limits } from './limits.ts';

/** Throws `unprocessable` for an archive that has too many members, or would become too large. Nothing is inflated for that. */
export function checkArchive(bytes: Uint8Array): void {
  inflate(bytes, () => false);
}

/** The members of an archive that are wanted, as text by name. */
export function readArchive(bytes: Uint8Array, isWanted: (name: string) => boolean): Map<string, string> {
  const members = inflate(bytes, isWanted);
  return new Map(Object.entries(members).map(([name, content]) => [name, strFromU8(content)]));
}

function inflate(bytes: Uint8Array, isWanted: (name: string) => boolean): Record<string, Uint8Array> {
  let count = 0;
  let total = 0;
  const filter = ({ name, size, originalSize }: UnzipFileInfo) => {
    total += originalSize;
    if (++count > limits.archiveMembersMax)
      throw unreadable(`The archive has more than ${limits.archiveMembersMax} members.`);
    const isBomb = originalSize > 1_000_000 && originalSize > size * limits.archiveRatioMax;
    if (isBomb || total > limits.archiveBytesMax) throw unreadable('The archive would become too large.');
    return isWanted(name);
  };
  try {
    return unzipSync(bytes, { filter });
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AppError') throw cause;
    throw unreadable('The archive is damaged.', cause);
  }
}
