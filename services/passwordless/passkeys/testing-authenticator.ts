import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

export interface AuthenticatorOptions {
  /** The page that asks. */
  readonly origin: string;
  /** True if it counts signatures; synced passkeys stay at 0. */
  readonly counts?: boolean;
  readonly verifiesUser?: boolean;
  readonly backupEligible?: boolean;
  readonly backedUp?: boolean;
  /** ES256 by default. */
  readonly algorithm?: Algorithm;
  /** Bits of an RSA key; 2,048 by default. */
  readonly rsaBits?: number;
}

/** Algorithms by their COSE numbers: ES256, EdDSA, RS256. */
export type Algorithm = -7 | -8 | -257;

/** Fields that a forger changes. */
export interface Forgery {
  /** Text in a browser. */
  readonly origin?: unknown;
  readonly rpId?: string;
  readonly challenge?: unknown;
  readonly type?: unknown;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  readonly present?: boolean;
  readonly verified?: boolean;
  readonly backupEligible?: boolean;
  readonly backedUp?: boolean;
  readonly counter?: number;
  /** `null` leaves it out. */
  readonly userHandle?: string | null;
  readonly credentialId?: string;
  /** COSE number of the key's algorithm. */
  readonly algorithm?: number;
  /** COSE number of its curve. */
  readonly curve?: number;
  /** Another attestation than none: its format and statement. */
  readonly attestation?: { readonly format: string; readonly statement: Map<CborKey, Cbor> };
  readonly signature?: string;
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id?: string };
  readonly user: { readonly id: string };
}

export interface RequestOptions {
  readonly challenge: string;
  readonly rpId?: string;
  readonly allowCredentials?: readonly { readonly id: string }[];
}

interface Held {
  readonly id: string;
  readonly rpId: string;
  readonly userHandle: string;
  readonly privateKey: KeyObject;
  counter: number;
}

/** A security key in software: ES256, no attestation. It signs what it is asked to, also what a browser would not. */
export class SoftwareAuthenticator {
  readonly #options: AuthenticatorOptions;
  readonly #held: Held[];

  constructor(options: AuthenticatorOptions, held: readonly Held[] = []) {
    this.#options = options;
    this.#held = held.map((each) => ({ ...each }));
  }

  /** Another device with the same keys, and the same count as this one has now. */
  clone(): SoftwareAuthenticator {
    return new SoftwareAuthenticator(this.#options, this.#held);
  }

  /** The id of the passkey made last. */
  get credentialId(): string {
    return this.#newest().id;
  }

  create(options: CreationOptions, forgery: Forgery = {}): RegistrationResponseJSON {
    const { publicKey, privateKey } = newKeys(this.#options);
    const id = forgery.credentialId ?? randomBytes(32).toString('base64url');
    const rpId = options.rp.id ?? new URL(this.#options.origin).hostname;
    const held = { id, rpId, userHandle: options.user.id, privateKey, counter: 0 };
    this.#held.push(held);
    const attested = attestedData(id, coseKey(publicKey, forgery));
    const authData = Buffer.concat([this.#authData(held, forgery, 0x40), attested]);
    const { format, statement } = forgery.attestation ?? { format: 'none', statement: new Map() };
    const attestation = new Map<CborKey, Cbor>([
      ['fmt', format],
      ['attStmt', statement],
      ['authData', authData],
    ]);
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge, forgery).toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
    };
  }

  /** Signs with the passkey that is asked for, else with the one made last. */
  get(options: RequestOptions, forgery: Forgery = {}): AuthenticationResponseJSON {
    const asked = options.allowCredentials ?? [];
    const held = this.#held.find(({ id }) => asked.some((each) => each.id === id)) ?? this.#newest();
    if (this.#options.counts) held.counter += 1;
    const authData = this.#authData(held, forgery, 0);
    const clientData = this.#clientData('webauthn.get', options.challenge, forgery);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    const signature =
      forgery.signature ?? sign(digestOf(held.privateKey), signed, held.privateKey).toString('base64url');
    const id = forgery.credentialId ?? held.id;
    const userHandle = forgery.userHandle === undefined ? held.userHandle : forgery.userHandle;
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature,
        ...(userHandle === null ? {} : { userHandle }),
      },
    };
  }

  #newest(): Held {
    const held = this.#held.at(-1);
    if (!held) throw new Error('this authenticator holds no passkey');
    return held;
  }

  #authData(held: Held, forgery: Forgery, more: number): Buffer {
    const { verifiesUser = true, backupEligible = false, backedUp = false } = this.#options;
    const flags =
      bit(0, forgery.present ?? true) |
      bit(2, forgery.verified ?? verifiesUser) |
      bit(3, forgery.backupEligible ?? backupEligible) |
      bit(4, forgery.backedUp ?? backedUp) |
      more;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(forgery.counter ?? held.counter);
    return Buffer.concat([sha256(forgery.rpId ?? held.rpId), Buffer.of(flags), counter]);
  }

  #clientData(type: string, challenge: string, forgery: Forgery): Buffer {
    const { origin = this.#options.origin, crossOrigin = false, topOrigin } = forgery;
    const told = {
      type: forgery.type ?? type,
      challenge: forgery.challenge ?? challenge,
      origin,
      crossOrigin,
    };
    return Buffer.from(JSON.stringify({ ...told, topOrigin }));
  }
}

/** AAGUID (zero: of no known model), length and id of the credential, and its key (WebAuthn 6.5.2). */
function attestedData(id: string, key: Buffer): Buffer {
  const idBytes = Buffer.from(id, 'base64url');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(idBytes.length);
  return Buffer.concat([Buffer.alloc(16), length, idBytes, key]);
}

function newKeys({ algorithm = -7, rsaBits = 2_048 }: AuthenticatorOptions) {
  if (algorithm === -8) return generateKeyPairSync('ed25519');
  if (algorithm === -257) return generateKeyPairSync('rsa', { modulusLength: rsaBits });
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** Ed25519 hashes by itself. */
function digestOf(key: KeyObject): string | null {
  return key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
}

/** Key type, algorithm and the parameters of the type (RFC 9053). */
function coseKey(publicKey: KeyObject, { algorithm, curve }: Forgery): Buffer {
  const jwk = publicKey.export({ format: 'jwk' });
  const part = (text: string | undefined) => Buffer.from(text ?? '', 'base64url');
  const entries: Record<string, [CborKey, Cbor][]> = {
    EC: [
      [1, 2],
      [3, algorithm ?? -7],
      [-1, curve ?? 1],
      [-2, part(jwk.x)],
      [-3, part(jwk.y)],
    ],
    OKP: [
      [1, 1],
      [3, algorithm ?? -8],
      [-1, curve ?? 6],
      [-2, part(jwk.x)],
    ],
    RSA: [
      [1, 3],
      [3, algorithm ?? -257],
      [-1, part(jwk.n)],
      [-2, part(jwk.e)],
    ],
  };
  return cbor(new Map(entries[jwk.kty ?? '']));
}

function bit(position: number, on: boolean): number {
  return on ? 1 << position : 0;
}

function sha256(of: string | Buffer): Buffer {
  return createHash('sha256').update(of).digest();
}

type CborKey = number | string;
type Cbor = number | string | Buffer | Map<CborKey, Cbor>;

/** The part of CBOR (RFC 8949) that attestations are made of. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, item]) => [cbor(key), cbor(item)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.of((major << 5) | count);
  if (count < 0x100) return Buffer.of((major << 5) | 24, count);
  return Buffer.of((major << 5) | 25, count >> 8, count & 0xff);
}
