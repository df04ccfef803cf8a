// Converts the options from the server for the browser, and the credentials from the browser to JSON. Written by hand, since password
// managers that replace the browser's credentials often lack `toJSON`.

/** @typedef {{ id: string, type: PublicKeyCredentialType, transports?: AuthenticatorTransport[] }} Descriptor */

export const hasPasskeys = typeof window.PublicKeyCredential === 'function';

/**
 * @param {any} options PublicKeyCredentialCreationOptionsJSON
 * @returns {Promise<object>} RegistrationResponseJSON
 */
export async function create(options) {
  const credential = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      user: { ...options.user, id: bytesOf(options.user.id) },
      excludeCredentials: options.excludeCredentials.map(described),
    },
  });
  const { response, ...rest } = partsOf(credential);
  const attestation = /** @type {AuthenticatorAttestationResponse} */ (response);
  return {
    ...rest,
    response: {
      clientDataJSON: textOf(attestation.clientDataJSON),
      attestationObject: textOf(attestation.attestationObject),
      transports: attestation.getTransports?.() ?? [],
    },
  };
}

/**
 * @param {any} options PublicKeyCredentialRequestOptionsJSON
 * @param {{ mediation?: CredentialMediationRequirement, signal: AbortSignal }} how
 * @returns {Promise<object>} AuthenticationResponseJSON
 */
export async function get(options, how) {
  const credential = await navigator.credentials.get({
    ...how,
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      allowCredentials: options.allowCredentials.map(described),
    },
  });
  const { response, ...rest } = partsOf(credential);
  const assertion = /** @type {AuthenticatorAssertionResponse} */ (response);
  return {
    ...rest,
    response: {
      clientDataJSON: textOf(assertion.clientDataJSON),
      authenticatorData: textOf(assertion.authenticatorData),
      signature: textOf(assertion.signature),
      ...(assertion.userHandle ? { userHandle: textOf(assertion.userHandle) } : {}),
    },
  };
}

/** @param {Credential | null} credential */
function partsOf(credential) {
  const { id, type, response } = /** @type {PublicKeyCredential} */ (credential);
  return { id, rawId: id, type, response, clientExtensionResults: {} };
}

/** @param {Descriptor} descriptor */
function described(descriptor) {
  return { ...descriptor, id: bytesOf(descriptor.id) };
}

/** @param {string} text base64url */
function bytesOf(text) {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (character) =>
    character.charCodeAt(0),
  );
}

/** @param {ArrayBuffer} buffer */
function textOf(buffer) {
  const text = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join('');
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
