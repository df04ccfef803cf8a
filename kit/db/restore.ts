import type { DatabaseOptions } from './database.ts';
import { readMigrations } from './migrations.ts';
import { restoreFile } from './sqlite/backup.ts';
import { sqliteFile } from './sqlite/file.ts';

/**
 * Puts a backup of the same kind of database in place, all or nothing; the next start migrates it. Stop the service
 * first. Throws `conflict` where the target has rows and `overwrite` is not set, `invalid_input` for a file that is no
 * such backup, `precondition_failed` for one from a newer version.
 */
export async function restoreDatabase(
  options: DatabaseOptions & { file: string; overwrite?: boolean },
): Promise<void> {
  const { name, url, file, overwrite = false } = options;
  const migrations = readMigrations(options.migrations, url ? 'postgres' : 'sqlite');
  if (url) {
    const { restoreSchema } = await import('./postgres/restore.ts');
    await restoreSchema({ url, schema: name, file, migrations, overwrite, log: options.log });
  } else {
    await restoreFile({ file, target: sqliteFile(options), migrations, overwrite });
  }
}
