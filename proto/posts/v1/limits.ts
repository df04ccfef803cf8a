/** The limits of `posts.v1`, for the service and for its clients. Texts are counted in Unicode code points. */
export const postLimits = {
  /** The largest id of a post or a user: the largest integer that JSON carries exactly. */
  idMax: Number.MAX_SAFE_INTEGER,
  titleCharactersMax: 500,
  bodyCharactersMax: 10_000,
  searchCharactersMax: 256,
  pageSizeMax: 100,
  /** Posts of one BulkCreatePosts call. */
  bulkPostsMax: 1_000,
  /** The text of a ClassifyText call. */
  classifiedCharactersMax: 10_000,
} as const;
