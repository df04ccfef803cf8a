/** The limits of posts.v1. Texts are counted in Unicode code points. */
export const postLimits = {
  title: 500,
  body: 10_000,
  /** A text that is searched for. */
  search: 256,
  /** Posts in one `BulkCreatePosts`. */
  bulk: 1_000,
  pageSize: 100,
  /** A text to classify. */
  text: 10_000,
  /** Reanalyses in one `ListReanalyses`. */
  reanalyses: 100,
  /** Days in one `CountPostsByDay`. */
  days: 366,
} as const;
