/** A key as the posts service stores it: those of different callers are independent. */
export function callersKey(uid: number, key: string): string {
  return `${uid}:${key}`;
}
