import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigurationError, describeError } from '../../../../src/base/errors.ts';
import { readTextFile } from '../../../../src/base/files.ts';
import { isRecord } from '../../../../src/base/json.ts';
import type { Logger } from '../../../../src/base/logger.ts';
import { type Redactor, Secret } from '../../../../src/base/redaction.ts';
import type { AcceptedKey } from '../callers.ts';
import { explainIssues } from '../../../../src/suite/explain-issues.ts';
import { type Finding, sortFindings } from '../../../../src/suite/findings.ts';
import { parseSource, type SourceDocument } from '../../../../src/suite/source-document.ts';

const name = z.string().trim().min(1);

/** A key file: the accepted keys and their users. */
const keyFileSchema = z.strictObject({
  keys: z.array(
    z.strictObject({
      // The key is checked below, because the messages of the schema quote invalid values.
      key: z.unknown(),
      user: name,
      name: name.exactOptional(),
      email: name.exactOptional(),
      organization: name,
      role: z.enum(['admin', 'member', 'guest']),
    }),
  ),
});

const shortestKey = 16;

/**
 * Reads the keys of `serve --keys`, from YAML or JSON, and redacts them from then on. Warns about a file that other users can read.
 *
 * @throws {ConfigurationError} with every mistake and its location; no message quotes a key
 */
export async function readKeyFile(
  file: string,
  { redactor, logger }: { redactor: Redactor; logger: Logger },
): Promise<AcceptedKey[]> {
  const { text, mode } = await readText(file);
  // Windows has no such permissions.
  if (process.platform !== 'win32' && (mode & 0o044) !== 0) {
    logger.warning(`Other users of this machine can read the keys in ${file}. Run \`chmod 600 ${file}\`.`);
  }
  const { document, findings } = parseSource(text, file);
  if (document === null) throw new ConfigurationError(findings.map(nameEmptyFile));
  hideKeys(document.value, redactor);
  const parsed = keyFileSchema.safeParse(document.value);
  const mistakes = parsed.success ? [] : explainIssues(keyFileSchema, document, parsed.error.issues);
  const all = sortFindings([...findings, ...mistakes, ...findBadKeys(document)]);
  if (!parsed.success || all.length > 0) throw new ConfigurationError(all);
  return parsed.data.keys.map(({ key, user, organization, role, ...said }) => {
    const text = String(key);
    const { email = `${user}@localhost` } = said;
    const owner = { id: user, email, name: said.name ?? user };
    const keyId = `key_${hash('sha256', text).slice(0, 16)}`;
    return { secret: new Secret(text), caller: { keyId, user: owner, organizationId: organization, role } };
  });
}

async function readText(file: string): Promise<{ text: string; mode: number }> {
  try {
    const { mode } = await stat(file);
    return { text: await readTextFile(file), mode };
  } catch (error) {
    const message = `the file cannot be read: ${describeError(error)}; write the path of a file with keys`;
    throw new ConfigurationError([{ input: 'keys', code: 'bad-keys', message }], { cause: error });
  }
}

function nameEmptyFile(finding: Finding): Finding {
  return finding.code === 'empty-file' ? { ...finding, message: 'The file is empty; write a list `keys`' } : finding;
}

/** Redacts every value of a wrong file that may be a key, so that no later output shows it. */
function hideKeys(value: unknown, redactor: Redactor): void {
  const entries = isRecord(value) ? value['keys'] : value;
  for (const entry of Array.isArray(entries) ? entries : [entries]) {
    const key: unknown = isRecord(entry) ? entry['key'] : entry;
    if (typeof key === 'string' || typeof key === 'number') redactor.add(new Secret(String(key)));
  }
}

function findBadKeys(document: SourceDocument): Finding[] {
  const { value } = document;
  const entries: unknown[] = isRecord(value) && Array.isArray(value['keys']) ? value['keys'] : [];
  if (isRecord(value) && Array.isArray(value['keys']) && entries.length === 0) {
    return [{ ...document.locateValue(['keys']), code: 'no-keys', message: '`keys` is empty; write at least one key' }];
  }
  const lines = new Map<unknown, number>();
  return entries.flatMap((entry, index) => {
    if (!isRecord(entry)) return [];
    const location = document.locateValue(['keys', index, 'key']);
    const { key } = entry;
    const earlier = lines.get(key);
    lines.set(key, location.line);
    const message =
      explainBadKey(key) ?? (earlier === undefined ? null : `The key is that of line ${earlier}; make another`);
    return message === null ? [] : [{ ...location, code: 'bad-key', message }];
  });
}

function explainBadKey(key: unknown): string | null {
  if (key === undefined || key === null)
    return 'The key `key` is missing; write what the client sends as its bearer token';
  if (typeof key !== 'string') return '`key` must be text; put quotes around it';
  if (!isBearerToken(key)) return '`key` may have letters, digits and - . _ ~ + / without blanks';
  return key.length < shortestKey ? `\`key\` must have at least ${shortestKey} characters` : null;
}

/** True if an HTTP header can carry the text as a bearer token (RFC 6750 §2.1). */
export function isBearerToken(text: string): boolean {
  return /^[\w.~+/-]+=*$/.test(text);
}
