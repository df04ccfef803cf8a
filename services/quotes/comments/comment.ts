import { AppError, notFound } from '@octavo/core';

/** Limit in code points. */
export const commentTextMax = 2_000;

/** Name of an author who has left; no user name has a space. */
export const formerUser = 'former user';

export interface Comment {
  readonly id: number;
  readonly quoteId: number;
  /** Null if the author has left. */
  readonly userId: number | null;
  readonly username: string;
  readonly text: string;
  readonly createdAtMs: number;
}

/** Returns true if a reader may delete a comment: its author and staff may. */
export function mayDelete(comment: Pick<Comment, 'userId'>, reader: { id: number; isStaff: 0 | 1 }): boolean {
  return comment.userId === reader.id || reader.isStaff === 1;
}

/** The comment, if the reader may delete it. Throws `not_found` and `forbidden`. */
export function deletable(
  comment: Comment | undefined,
  { id, reader }: { id: number; reader: { id: number; isStaff: 0 | 1 } },
): Comment {
  if (!comment) throw notFound('comment', id);
  if (!mayDelete(comment, reader)) {
    throw new AppError('forbidden', 'You do not have permission to perform this action.');
  }
  return comment;
}
