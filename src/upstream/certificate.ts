import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';

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

const names = { ecdsaWithSha256: '1.2.840.10045.4.3.2', commonName: '2.5.4.3', serverAuth: '1.3.6.1.5.5.7.3.1' };
const extensions = {
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
};

/** The bits of KeyUsage, RFC 5280 §4.2.1.3, as the bytes of a BIT STRING: unused bits first. */
const usages = { signs: Buffer.from([7, 0x80]), signsCertificates: Buffer.from([1, 0x86]) };

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
  const times = { notBefore: new Date(nowMs - validBeforeMs), notAfter: new Date(nowMs + validAfterMs) };
  const certificate = buildCertificate({ subject: issuer, issuer, key: own, signer: own, hosts: null, ...times });
  const contexts = new Map<string, SecureContext>();
  return {
    certificate,
    findContext: (host) => {
      const known = contexts.get(host);
      if (known !== undefined) return known;
      const chain = `${buildCertificate({ subject: host, issuer, key: leaf, signer: own, hosts: [host], ...times })}${certificate}`;
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

interface CertificateRequest {
  subject: string;
  issuer: string;
  key: Key;
  signer: Key;
  /** Null for the authority itself. */
  hosts: readonly string[] | null;
  notBefore: Date;
  notAfter: Date;
}

/** Builds a certificate, RFC 5280 §4.1, and signs it. */
function buildCertificate(request: CertificateRequest): string {
  const { subject, issuer, key, signer, hosts, notBefore, notAfter } = request;
  const algorithm = sequence(objectId(names.ecdsaWithSha256));
  const parts = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    buildName(issuer),
    sequence(time(notBefore), time(notAfter)),
    buildName(subject),
    key.spki,
    tagged(3, sequence(...buildExtensions(key, signer, hosts))),
  );
  const signature = sign('sha256', parts, signer.key);
  const der = sequence(parts, algorithm, bitString(Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString('base64').replaceAll(/.{1,64}/g, (line) => `${line}\n`);
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}

function buildExtensions(key: Key, signer: Key, hosts: readonly string[] | null): Buffer[] {
  const subjectKey = extension(extensions.subjectKey, octets(key.id));
  if (hosts === null) {
    return [
      extension(extensions.basicConstraints, sequence(der(0x01, Buffer.from([0xff]))), { isCritical: true }),
      extension(extensions.keyUsage, bitString(usages.signsCertificates), { isCritical: true }),
      subjectKey,
    ];
  }
  return [
    extension(extensions.basicConstraints, sequence(), { isCritical: true }),
    extension(extensions.keyUsage, bitString(usages.signs), { isCritical: true }),
    extension(extensions.extendedKeyUsage, sequence(objectId(names.serverAuth))),
    extension(extensions.alternativeNames, sequence(...hosts.map(alternativeName))),
    extension(extensions.authorityKey, sequence(der(0x80, signer.id))),
    subjectKey,
  ];
}

/** Names have at most 64 characters; clients check the alternative names only. */
function buildName(text: string): Buffer {
  const value = der(0x0c, Buffer.from(text.slice(0, 64), 'utf8'));
  return sequence(der(0x31, sequence(objectId(names.commonName), value)));
}

function alternativeName(host: string): Buffer {
  const address = host.replaceAll(/^\[|\]$/g, '');
  const family = isIP(address);
  if (family === 0) return der(0x82, Buffer.from(host, 'latin1'));
  return der(0x87, family === 4 ? Buffer.from(address.split('.').map(Number)) : expandIpv6(address));
}

function expandIpv6(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':'));
  const [before, after] = [read(head), read(tail ?? '')];
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function extension(id: string, value: Buffer, { isCritical = false } = {}): Buffer {
  const critical = isCritical ? [der(0x01, Buffer.from([0xff]))] : [];
  return sequence(objectId(id), ...critical, octets(value));
}

/** Encodes a value by the distinguished rules of X.690: tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const digits = content.length.toString(16);
  const length = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, Buffer.concat(parts));
const tagged = (number: number, content: Buffer) => der(0xa0 | number, content);
const integer = (value: Buffer) => der(0x02, value);
const octets = (value: Buffer) => der(0x04, value);
const bitString = (value: Buffer) => der(0x03, value);

/** Years from 2050 on need the longer form, RFC 5280 §4.1.2.5. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : der(0x18, Buffer.from(digits, 'latin1'));
}

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const last = value % 128;
  const before: number[] = [];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) before.unshift((left % 128) | 0x80);
  return [...before, last];
}
