import { addAnalytics } from './api-analytics.ts';
import { addBulk } from './api-bulk.ts';
import { addExport } from './api-export.ts';
import { addStoredExports } from './api-exports.ts';
import { callerName, createPermits, refuseStrangers } from './api-guard.ts';
import { addLogin } from './api-login.ts';
import type { ApiParts } from './api-parts.ts';
import { addPosts } from './api-posts.ts';
import { addReanalysis } from './api-reanalysis.ts';
import { addSentiment } from './api-sentiment.ts';
import { addStatus } from './api-status.ts';

/** Adds every endpoint of the API. */
export function addApi(given: Omit<ApiParts, 'permits'>): void {
  const parts = { ...given, permits: createPermits(given.access) };
  parts.app.decorateRequest(callerName);
  parts.app.addHook('onRequest', refuseStrangers(given.access));
  addLogin(parts);
  addPosts(parts);
  addBulk(parts);
  addExport(parts);
  addStoredExports(parts);
  addAnalytics(parts);
  addStatus(parts);
  addSentiment(parts);
  addReanalysis(parts);
}
