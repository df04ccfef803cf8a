import type { HealthTables } from '@octavo/data';
import type { JobTables } from '@octavo/data/jobs';
import type { OidcTables } from '@octavo/people/sign-in';
import type { Generated } from 'kysely';

export interface Tables extends JobTables, OidcTables, HealthTables {
  library: LibraryRow;
  document: DocumentRow;
  person: {
    account: string;
    name: string;
    /** When they erased their account. */
    left_at_ms: Generated<number | null>;
  };
  document_text: { document: number; text: string };
  document_content: { document: number; part: number; bytes: Uint8Array };
  chunk: ChunkRow;
  embedding_model: EmbeddingModelRow;
  connection: {
    /** `llm`. */
    kind: string;
    base_url: string;
    model: string;
    /** Encrypted. */
    api_key: string | null;
    changed_at_ms: number;
  };
  chunk_embedding: { chunk: number; model: number; vector: Uint8Array };
  session: SessionRow;
  share: ShareRow;
  share_document: {
    session: string;
    /** Its public id. */
    document: string;
    /** The library that it was in. */
    library: number;
  };
  message: MessageRow;
  feedback: FeedbackRow;
  turn: TurnRow;
  turn_part: TurnPartRow;
}

/** Documents that are searched together. */
export interface LibraryRow {
  id: Generated<number>;
  /** `shared` for everyone, `public` for those who are not signed in, `owner:…` or `session:…`. */
  key: string;
  /** Rises with each document that is published or removed. */
  version: Generated<number>;
}

export type DocumentStatus = 'processing' | 'indexed' | 'failed' | 'deleting';

export interface DocumentRow {
  id: Generated<number>;
  public_id: string;
  library: number;
  owner: string;
  session: string | null;
  filename: string;
  media_type: string;
  size: number;
  sha256: string;
  title: string;
  status: DocumentStatus;
  /** Error, if the status is `failed`. */
  error: string | null;
  pages: number | null;
  chunk_count: number;
  text_length: number;
  /** JSON: an array of texts. */
  tags: string;
  /** JSON: an array of texts. */
  warnings: string;
  /** Until when a process works on it. */
  lease_until_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
  /** True if it replaces older ones with the same name when it is published. */
  replaces: Generated<0 | 1>;
  /** The title that a person gave it; null for its own. */
  given_title: string | null;
  /** True if everybody could read it before documents had a visibility, until that is decided again. */
  was_shared: Generated<0 | 1>;
  /** The model that all of its chunks have vectors of; 0 for none. */
  embedding_model: Generated<number>;
  /** The version of the reader of files that made its text; 0 if that was not noted. */
  reader_version: Generated<number>;
  /** Its number when it was uploaded; null if it has that still. */
  first_id: number | null;
}

export interface ChunkRow {
  id: Generated<number>;
  public_id: string;
  document: number;
  /** Its number in the document, from 0. */
  place: number;
  section: string;
  page: number | null;
  start_offset: number;
  end_offset: number;
  text: string;
  /** Its vector; see `indexing.ts`. */
  features: Uint8Array;
  /** Its vector of meaning; null for a chunk of an earlier version, until it is searched. */
  meaning: Uint8Array | null;
}

/** A model of the embedding service. */
export interface EmbeddingModelRow {
  id: Generated<number>;
  name: string;
  /** The size of vectors that is asked for; 0 if the service decides. */
  requested: number;
  /** The size that they have; 0 until the first is there. */
  dimensions: number;
  /** Documents get vectors of the model with the highest number. */
  choice: number;
  /** When a process last had this model. */
  used_at_ms: number;
}

export interface SessionRow {
  id: string;
  owner: string;
  title: string;
  /** JSON. */
  metadata: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** A link to a chat as it was when its owner shared it. */
export interface ShareRow {
  session: string;
  /** Makes the token, with the secret. */
  seed: string;
  token_hash: string;
  /** JSON: questions, answers and quotes. */
  snapshot: string;
  expires_at_ms: number;
}

export interface MessageRow {
  id: string;
  session: string;
  role: 'user' | 'assistant';
  content: string;
  strategy: string | null;
  /** JSON: sources, citations, the trace of calls and metadata of an answer. */
  details: string;
  created_at_ms: number;
}

/** A rating of an answer. */
export interface FeedbackRow {
  message: string;
  rating: 'up' | 'down';
  comment: string;
  rated_at_ms: number;
}

export type TurnStatus = 'waiting' | 'running' | 'done' | 'cancelled';

/** A turn of the last minutes. */
export interface TurnRow {
  owner: string;
  request_id: string;
  /** Hash of the request. */
  fingerprint: string;
  /** Another one each time it is run; also the id of the message with its answer. */
  run: string;
  session: string | null;
  status: TurnStatus;
  /** True if the process that runs it is to stop. */
  stopping: 0 | 1;
  /** Until when another process waits for its outcome. */
  followed_until_ms: number;
  /** JSON: all that happened in it, once it has ended. */
  events: string | null;
  /** The end of the lease of the process that runs it; once it has ended, how long it is kept. */
  until_ms: number;
  /** Until when another process wants its events as they come. */
  watched_until_ms: number;
}

/** Events of a running turn that is watched in another process. */
export interface TurnPartRow {
  owner: string;
  request_id: string;
  run: string;
  /** Number of the events of that run before these. */
  first: number;
  /** JSON: a list. */
  events: string;
}
