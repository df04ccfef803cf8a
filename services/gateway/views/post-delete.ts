import { confirm } from '#kit/html/confirm.ts';
import { checkbox } from '#kit/html/form.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { postPath } from '../page-routes.ts';
import type { Post } from '../post.ts';

export interface PostDeleteView {
  readonly post: Post;
  /** The reader's role wants a second factor for this. */
  readonly needsMfa: boolean;
  readonly problem?: string | undefined;
}

const mfaLabel = 'I have just confirmed with my second factor that it is me';

export function postDeletePage(frame: Frame, { post, needsMfa, problem }: PostDeleteView): string {
  return layout(frame, {
    title: 'Delete post',
    parent: { href: postPath('post', post.id), label: `Post ${post.id}` },
    main: confirm({
      title: `Delete “${post.title}”?`,
      text: `Post ${post.id} of user ${post.userId} goes for good, and out of the analysis. It cannot be brought back.`,
      action: postPath('deletePost', post.id),
      csrfField: frame.csrfField,
      fields: needsMfa && checkbox({ name: 'mfaVerified', label: mfaLabel }),
      problem,
      deed: 'Delete post',
      cancelHref: postPath('post', post.id),
    }),
  });
}
