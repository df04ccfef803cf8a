import { hash } from 'node:crypto';
import { newSecret } from '@octavo/core';
import type { User } from '../accounts/user.ts';
import { errors } from '../errors.ts';
import type { LinkPurpose } from '../mail/texts.ts';

/** A link that was sent to a user. */
export interface Link {
  readonly purpose: LinkPurpose;
  readonly user: User;
  /** The address that it was sent to. */
  readonly email: string;
  readonly expiresMs: number;
}

/** Mails may arrive late, so an older link goes on working until this many newer ones were sent. */
const perUserMax = 3;
/** Beyond that, the oldest link is dropped. */
const linksMax = 100_000;
const sweptAtOnce = 10_000;

/** All live links, by the SHA-256 of their token, in memory. A token is 256 random bits, so its hash needs no salt. */
export class Links {
  readonly #byHash = new Map<string, Link>();
  readonly #byUser = new Map<User, readonly string[]>();

  get size(): number {
    return this.#byHash.size;
  }

  /** Returns the token of a new link. */
  add(link: Link): string {
    const token = newSecret();
    const key = hashOf(token);
    const others = this.#byUser.get(link.user) ?? [];
    const same = others.filter((each) => this.#byHash.get(each)?.purpose === link.purpose);
    const [oldest] = same;
    if (oldest !== undefined && same.length >= perUserMax) this.#remove(oldest);
    const [first] = this.#byHash.keys();
    if (first !== undefined && this.#byHash.size >= linksMax) this.#remove(first);
    this.#byHash.set(key, link);
    this.#byUser.set(link.user, [...(this.#byUser.get(link.user) ?? []), key]);
    return token;
  }

  /** Finds a link without using it up. Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  find(token: string, purpose: LinkPurpose, nowMs: number): Link {
    const link = this.#byHash.get(hashOf(token));
    if (link?.purpose !== purpose || link.user.email !== link.email) throw errors.invalidToken();
    if (nowMs >= link.expiresMs) throw errors.tokenExpired();
    return link;
  }

  /** Uses a link up: one of several requests at the same time gets it. Throws like {@link find}. */
  take(token: string, purpose: LinkPurpose, nowMs: number): Link {
    const link = this.find(token, purpose, nowMs);
    this.#remove(hashOf(token));
    return link;
  }

  /** Voids the links of a user. */
  forget(user: User): void {
    for (const key of this.#byUser.get(user) ?? []) this.#byHash.delete(key);
    this.#byUser.delete(user);
  }

  /** Removes some of the expired links: the oldest come first. */
  sweep(nowMs: number): void {
    let looked = 0;
    for (const [key, { expiresMs }] of this.#byHash) {
      if (looked++ >= sweptAtOnce) return;
      if (nowMs >= expiresMs + keptMs) this.#remove(key);
    }
  }

  #remove(key: string): void {
    const link = this.#byHash.get(key);
    if (!link) return;
    this.#byHash.delete(key);
    const left = (this.#byUser.get(link.user) ?? []).filter((each) => each !== key);
    if (left.length > 0) this.#byUser.set(link.user, left);
    else this.#byUser.delete(link.user);
  }
}

/** Time for which an expired link is remembered, to be told from an invalid one. */
const keptMs = 3_600_000;

function hashOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
