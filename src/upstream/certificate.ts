import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** A certificate authority for one gate. Its key never leaves this process. */
export interface Authority {
  /** The certificate as PEM, for clients that have to trust it. */
  readonly certificate: string;
  /** Returns the key and the certificate for a host; the same ones each time. */
  findContext(host: string): SecureContext;
}

/** Clients with a clock that is moved by days, as in an exploration, still accept the certificate. */
const dayMs = 24 * 60 * 60 * 1000;
const validBeforeMs = 100 * dayMs;
/** Some clients refuse a longer life than 398 days in all. */
const validAfterMs = 290 * dayMs;

const commonName = '2.5.4.3';
const ecdsaWithSha256 = '1.2.840.10045.4.3.2';

interface Key {
  key: KeyObject;
  /** The DER of SubjectPublicKeyInfo. */
  spki: Buffer;
  /** The identifier of the key, RFC 5280 §4.2.1.2. */
  id: Buffer;
}

/** Makes an authority with a new key. It is valid around `nowMs`. */
export function createAuthority(nowMs: number): Authority {
  const issuer = 'mcp-eval-ci';
  const own = createKey();
  // One key for all hosts: each key would cost a millisecond, and none of them protects anything.
  const leaf = createKey();
  const leafKey = leaf.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const validity = new Validity({
    notBefore: new Date(nowMs - validBeforeMs),
    notAfter: new Date(nowMs + validAfterMs),
  });
  const shared = { issuer, signer: own, validity };
  const certificate = buildCertificate({ ...shared, subject: issuer, key: own, extensions: listOwnExtensions(own) });
  const contexts = new Map<string, SecureContext>();
  return {
    certificate,
    findContext: (host) => {
      const known = contexts.get(host);
      if (known !== undefined) return known;
      const extensions = listHostExtensions(host, { key: leaf, signer: own });
      const chain = `${buildCertificate({ ...shared, subject: host, key: leaf, extensions })}${certificate}`;
      const context = createSecureContext({ key: leafKey, cert: chain });
      contexts.set(host, context);
      return context;
    },
  };
}

function createKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  const key = createPrivateKey({ key: privateKey, type: 'pkcs8', format: 'der' });
  return { key, spki: publicKey, id: createHash('sha256').update(publicKey).digest().subarray(0, 20) };
}

/** Builds a certificate, RFC 5280 §4.1, and signs it. */
function buildCertificate(request: {
  subject: string;
  issuer: string;
  key: Key;
  signer: Key;
  validity: Validity;
  extensions: Extension[];
}): string {
  const { subject, issuer, key, signer, validity, extensions } = request;
  const algorithm = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    // A positive number.
    serialNumber: toArrayBuffer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    signature: algorithm,
    issuer: buildName(issuer),
    validity,
    subject: buildName(subject),
    subjectPublicKeyInfo: AsnConvert.parse(key.spki, SubjectPublicKeyInfo),
    extensions: new Extensions(extensions),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), signer.key);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: toArrayBuffer(signature),
  });
  const text = Buffer.from(AsnConvert.serialize(certificate)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/.{1,64}/g, (line) => `${line}\n`)}-----END CERTIFICATE-----\n`;
}

function listOwnExtensions(key: Key): Extension[] {
  return [
    buildExtension(id_ce_basicConstraints, new BasicConstraints({ cA: true }), { critical: true }),
    buildExtension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign), { critical: true }),
    buildExtension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(key.id)),
  ];
}

function listHostExtensions(host: string, { key, signer }: { key: Key; signer: Key }): Extension[] {
  const address = host.replaceAll(/^\[|\]$/g, '');
  const name = new GeneralName(isIP(address) === 0 ? { dNSName: host } : { iPAddress: address });
  return [
    buildExtension(id_ce_basicConstraints, new BasicConstraints(), { critical: true }),
    buildExtension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), { critical: true }),
    buildExtension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
    buildExtension(id_ce_subjectAltName, new SubjectAlternativeName([name])),
    buildExtension(
      id_ce_authorityKeyIdentifier,
      new AuthorityKeyIdentifier({ keyIdentifier: new OctetString(signer.id) }),
    ),
    buildExtension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(key.id)),
  ];
}

function buildExtension(extnID: string, value: object, { critical = false } = {}): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

/** Names have at most 64 characters; clients check the alternative names only. */
function buildName(text: string): Name {
  const value = new AttributeValue({ utf8String: text.slice(0, 64) });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonName, value })])]);
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
