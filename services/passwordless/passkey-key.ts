import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { Unverified } from './passkey-client-data.ts';
import { helpers } from './webauthn-library.ts';

/** The key of a passkey, ready to verify with. Throws {@link Unverified} where it is none that we asked for. */
export async function keyOf(coseKey: Uint8Array<ArrayBuffer>): Promise<KeyObject> {
  const { decodeCredentialPublicKey } = await helpers();
  try {
    const cose: unknown = decodeCredentialPublicKey(coseKey);
    const key = createPublicKey({ key: jwkOf(cose as CoseKey), format: 'jwk' });
    const { modulusLength = rsaBitsMin } = key.asymmetricKeyDetails ?? {};
    if (modulusLength < rsaBitsMin) throw new Error('the RSA key is too short');
    return key;
  } catch (cause) {
    throw new Unverified('the key cannot be read', { cause });
  }
}

/** By the numbers of RFC 9052 and RFC 9053: 1 is the type, 3 the algorithm, the negative ones are the parameters of the type. */
type CoseKey = ReadonlyMap<number, unknown>;

const rsaBitsMin = 2_048;
const types = { OKP: 1, EC2: 2, RSA: 3 } as const;
const curves = { P256: 1, Ed25519: 6 } as const;

function jwkOf(cose: CoseKey): webcrypto.JsonWebKey {
  const [type, algorithm, first] = [cose.get(1), cose.get(3), cose.get(-1)];
  const [second, third] = [base64url(cose.get(-2)), base64url(cose.get(-3))];
  const is = (...expected: unknown[]) =>
    [type, algorithm, first].every((each, index) => each === expected[index]);
  if (is(types.EC2, -7, curves.P256)) return { kty: 'EC', crv: 'P-256', x: second, y: third };
  if (is(types.OKP, -8, curves.Ed25519)) return { kty: 'OKP', crv: 'Ed25519', x: second };
  if (is(types.RSA, -257, first)) return { kty: 'RSA', n: base64url(first), e: second };
  throw new Error('its algorithm is none that we asked for');
}

function base64url(part: unknown): string {
  return part instanceof Uint8Array ? Buffer.from(part).toString('base64url') : '';
}
