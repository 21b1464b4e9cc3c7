import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { makeCertificate } from '../network/https-server.ts';

export interface KeyPair {
  key: string;
  cert: string;
}

/** Certificates for `localhost`: a valid one, and three invalid ones. */
export interface Certificates extends Disposable {
  good: KeyPair;
  /** Signed by an unknown authority. */
  untrusted: KeyPair;
  expired: KeyPair;
  wrongHost: KeyPair;
}

/** Makes certificates. This process trusts all except the untrusted one until they are disposed. */
export async function makeCertificates(): Promise<Certificates> {
  const [good, untrusted, wrongHost, expired] = await Promise.all([
    makeKeyPair('localhost'),
    makeKeyPair('localhost'),
    makeKeyPair('elsewhere.test'),
    makeExpired(),
  ]);
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, good.cert, wrongHost.cert, expired.cert]);
  return {
    good,
    untrusted,
    expired,
    wrongHost,
    [Symbol.dispose]: () => tls.setDefaultCACertificates(before),
  };
}

async function makeKeyPair(hostname: string): Promise<KeyPair> {
  const { key, certificate } = await makeCertificate(hostname);
  return { key, cert: certificate };
}

const authority = `[ca]
default_ca = it
[it]
database = index.txt
new_certs_dir = .
default_md = sha256
policy = any
x509_extensions = names
rand_serial = yes
[any]
commonName = supplied
[names]
subjectAltName = DNS:localhost
`;

/** Uses `openssl ca`, the only command that accepts dates in the past. */
async function makeExpired(): Promise<KeyPair> {
  const folder = await mkdtemp(join(tmpdir(), 'expired-'));
  try {
    await writeFile(join(folder, 'ca.cnf'), authority);
    await writeFile(join(folder, 'index.txt'), '');
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
    const dates = ['-startdate', '20200101000000Z', '-enddate', '20200102000000Z'];
    const files = ['-selfsign', '-keyfile', 'key.pem', '-in', 'request.pem', '-out', 'cert.pem'];
    for (const args of [
      ['req', ...key, '-subj', '/CN=localhost', '-out', 'request.pem'],
      ['ca', '-config', 'ca.cnf', ...files, ...dates, '-batch', '-notext'],
    ]) {
      const openssl = spawnSync('openssl', args, { cwd: folder });
      if (openssl.status !== 0) throw new Error(`openssl failed: ${openssl.stderr.toString()}`);
    }
    const [pem, cert] = await Promise.all(
      ['key.pem', 'cert.pem'].map(async (name) => readFile(join(folder, name), 'utf8')),
    );
    return { key: pem!, cert: cert! };
  } finally {
    await rm(folder, { recursive: true });
  }
}
