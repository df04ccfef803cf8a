import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import { type Content, confirm, type Frame, formatBytes, html, layout, time } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import { clientAddress } from '@octavo/web/server';
import {
  appNeeded,
  type CodeRefusal,
  checkCode,
  codeField,
  type PageSession,
  secondFactorFor,
  type Visitor,
  type Visitors,
} from '../access/index.ts';
import { exportPath, pageRoutes } from '../routes.ts';
import type { StoredExports } from './store.ts';
import { nameOf } from './stored-export.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly authz: Client<AuthServiceDefinition>;
  readonly exports: StoredExports;
}

/** The page that deletes a stored export, for users whom the policies allow to. */
export function addDeleteExportPage(routes: PageRoutes<PageSession>, parts: Parts): void {
  const access = parts.visitors('export', 'delete');
  routes.get(pageRoutes.deleteExport, { access }, (visitor) => askToDelete(visitor, parts));
  routes.post(pageRoutes.deleteExport, { access }, (visitor) => deleteExport(visitor, parts));
}

async function askToDelete(visitor: Visitor, { authz, exports }: Parts, refusal: CodeRefusal = {}) {
  const { key, sizeBytes, modifiedMs } = await exports.find(exportName(visitor.visit));
  const name = nameOf(key) ?? '';
  const factor = await secondFactorFor(visitor, authz);
  const frame = visitor.frame();
  if (factor === 'app') return framed(frame, appNeeded('exports'));
  return framed(
    frame,
    confirm({
      title: 'Delete this export?',
      text: html`This deletes <b>${name}</b>, the stored copy of ${formatBytes(sizeBytes)} from ${time(modifiedMs)}. The posts stay. You cannot undo it.`,
      action: exportPath('deleteExport', name),
      csrfField: frame.csrfField,
      fields: factor === 'code' ? codeField(refusal.error) : undefined,
      problem: refusal.problem,
      deed: 'Delete export',
      cancelHref: pageRoutes.storedExports,
    }),
  );
}

async function deleteExport(visitor: Visitor, parts: Parts) {
  const { visit } = visitor;
  const remoteAddress = clientAddress(visit.request);
  const refusal = await checkCode(visitor, { authz: parts.authz, remoteAddress });
  if (refusal) return askToDelete(visitor, parts, refusal);
  const name = exportName(visit);
  await parts.exports.remove(name);
  return visit.redirect(pageRoutes.storedExports, { tone: 'good', text: `${name} is deleted.` });
}

function exportName(visit: Visit<PageSession>): string {
  return String((visit.request.params as { name?: string }).name);
}

function framed(frame: Frame, main: Content): string {
  const parent = { href: pageRoutes.storedExports, label: 'Exports' };
  return layout(frame, { title: 'Delete export', parent, main });
}
