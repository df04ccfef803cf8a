/** Where a bucket is. */
export interface S3Options {
  /** Address of an S3-compatible server; without one it is Amazon's. */
  readonly endpoint?: string | undefined;
  readonly bucket: string;
  readonly region: string;
  /** Without them they are looked for where Amazon's tools look: environment, profile, role of the machine. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}
