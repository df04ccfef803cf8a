import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { configOf, openServiceDatabase, type ServiceContext } from '@octavo/data/service';
import { Registry } from 'prom-client';
import { authenticateHeader, createTokens } from '../../../services/budgets/authentication/index.ts';
import type { Caller, Context } from '../../../services/budgets/commands.ts';
import { budgets } from '../../../services/budgets/service.ts';
import type { Tables } from '../../../services/budgets/store/tables.ts';

/** The rules of the budgets without their servers, on the folder of a service that has ended, for servers that do the same work. */
export async function openCore(
  dataFolder: string,
): Promise<{ context: Context; callerOf(authorization: string | undefined): Promise<Caller> }> {
  const secret = (await readFile(join(dataFolder, 'budgets.secret'), 'utf8')).trim();
  const serviceContext: ServiceContext = {
    log: silentLog,
    clock: systemClock,
    dataFolder,
    metrics: new Registry(),
    environment: 'development',
    host: '127.0.0.1',
    port: 0,
  };
  const config = configOf(budgets, {});
  const db = await openServiceDatabase<Tables>(budgets, config, serviceContext);
  const context: Context = { db, clock: systemClock, config, onCommitted: () => {} };
  const tokens = createTokens(secret, systemClock);
  return { context, callerOf: (authorization) => authenticateHeader(context, tokens, authorization) };
}
