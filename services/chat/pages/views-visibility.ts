import type { Frame } from '@octavo/web/html';
import { checkbox, count, type Html, html, notice } from '@octavo/web/html';
import { type Document, isWithin, mayChange, type Viewer } from '../documents/index.ts';
import { type LibraryRules, visibilitiesFor, visibilityOf } from '../library.ts';
import { isStranger } from '../owner.ts';
import { pageRoutes, pathOf } from '../routes.ts';

/** Everything that decides what a page says about the readers of documents. */
export interface Readers {
  readonly viewer: Viewer;
  readonly library: LibraryRules;
}

export interface UploadReaders extends Readers {
  readonly requiresSignIn: boolean;
  readonly offersSignIn: boolean;
}

/** Says beside the button who will see an upload, with a switch where the visitor may choose. */
export function uploadReaders({ viewer, library, requiresSignIn, offersSignIn }: UploadReaders): Html {
  const { identity } = viewer;
  const allowed = visibilitiesFor(library, identity);
  const all = requiresSignIn ? 'Everyone who signs in' : 'Everyone, also without signing in,';
  const signIn =
    offersSignIn && html` <a href="${pageRoutes.signIn}">Sign in</a> to upload documents that only you see.`;
  if (allowed.length > 1)
    return checkbox({
      name: 'visibility',
      value: 'everyone',
      label: 'Share with everyone',
      help: html`Only you will see what you upload. If you share it: ${all.toLowerCase()} can read it and gets answers from it.`,
    });
  const text = {
    public: html`Everyone who is not signed in will see what you upload.${signIn}`,
    everyone: 'Everyone who can open this chat will see what you upload.',
    private: isStranger(identity.owner)
      ? html`Only you will see what you upload, in this browser.`
      : 'Only you will see what you upload.',
  }[allowed[0] ?? 'private'];
  return html`<div class="field"><p class="help" data-readers><span>${text}</span></p></div>`;
}

/** Names the readers of a document, and whose it is. */
export function readersOf(
  document: Document,
  { viewer, names }: Pick<Readers, 'viewer'> & { names: ReadonlyMap<string, string> },
): Html {
  const isMine = document.owner === viewer.identity.owner;
  const owner = isMine ? 'you' : (names.get(document.owner) ?? ownerName(document.owner, viewer));
  const visibility = visibilityOf(document.libraryKey);
  if (visibility === 'everyone') return html`Everyone<div class="muted">from ${owner}</div>`;
  if (visibility === 'public')
    return html`People not signed in${isMine && html`<div class="muted">from you</div>`}`;
  return html`Only ${owner}${document.session !== null && html`<div class="muted">in one chat</div>`}`;
}

function ownerName(owner: string, { identity }: Viewer): string {
  if (owner === 'octavo') return 'Octavo';
  if (isStranger(owner)) return 'a person who was not signed in';
  return identity.isAdmin ? owner : 'another person';
}

/** The button that shares a document with everyone, or ends that; undefined if the viewer may do neither. */
export function visibilityForm(
  { csrfField }: Frame,
  document: Document,
  { viewer, library }: Readers,
): Html | undefined {
  const { identity, reach } = viewer;
  if (document.session !== null || !mayChange(library, document, identity)) return undefined;
  const isEveryones = visibilityOf(document.libraryKey) === 'everyone';
  const isOwn = document.owner === identity.owner;
  const isSharable =
    isOwn || document.wasShared || (!isWithin(reach, document) && isStranger(document.owner));
  const wanted = isEveryones ? 'private' : 'everyone';
  if (!visibilitiesFor(library, identity).includes(wanted)) return undefined;
  if (isEveryones ? !isOwn : !isSharable) return undefined;
  const label = isEveryones ? 'Make private' : 'Share with everyone';
  return html`<form method="post" action="${pathOf(pageRoutes.shareDocument, document.publicId)}">${csrfField}<button class="secondary" name="visibility" value="${wanted}">${label}</button></form>`;
}

/** Tells an administrator of documents that everybody could read before the upgrade, and offers to share them again. */
export function formerlySharedNotice(
  { csrfField }: Frame,
  total: number,
  { viewer, library }: Readers,
): Html {
  const canShare = visibilitiesFor(library, viewer.identity).includes('everyone');
  return notice(
    'info',
    html`<div class="stack"><p>${count(total, 'document')} that everyone could read before the upgrade ${total === 1 ? 'is' : 'are'} now private, or only for people who are not signed in.</p>
<form class="actions" method="post" action="${pageRoutes.formerlyShared}">${csrfField}${canShare && html`<button class="secondary" name="choice" value="share">Share with everyone</button>`}<button class="quiet" name="choice" value="keep">Keep as they are</button></form></div>`,
  );
}
