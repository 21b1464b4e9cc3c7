import { Secret } from '../../base/redaction.ts';
import { buildReportJsonSchema } from '../../model/report.ts';
import type { GateOptions } from '../options/schema.ts';

/**
 * Names of variables that hold secrets. A value that the job passes through is often secret; a value that a workflow writes out is secret
 * only if its name says so.
 */
const secretName = /key|token|secret|pass|pwd|credential|auth|private|signature|cookie|dsn/i;
const urlWithPassword = /:\/\/[^/?#\s]*:[^/?#\s]+@/;

/** Lists the variables of a server that no output may show. */
export function listVariableSecrets(
  environment: ReadonlyMap<string, Secret>,
  written: GateOptions['serverEnv'],
): Secret[] {
  const secrets = [...environment]
    .filter(([name, value]) => written.get(name) === null || isSecret(name, value))
    .map(([, value]) => value);
  return keepDistinct(secrets);
}

/** Leaves out values that occur in the vocabulary of reports. */
export function keepDistinct(secrets: readonly Secret[]): Secret[] {
  if (secrets.length === 0) return [];
  // Hiding `failed` would protect nothing, and would remove the verdict from every text.
  const vocabulary = JSON.stringify(buildReportJsonSchema());
  return secrets.filter((secret) => !vocabulary.includes(secret.reveal()));
}

/** Checks if a value that is written in a file is secret, by its name or its form. */
export function isSecret(name: string, value: Secret): boolean {
  return secretName.test(name) || urlWithPassword.test(value.reveal());
}

/** Lists what no output may show of a URL's query: the whole query, and the values whose names say that they are secret. */
export function listUrlSecrets(url: string | null): Secret[] {
  const parsed = URL.parse(url ?? '');
  if (parsed === null || parsed.search === '') return [];
  const values = [...parsed.searchParams].filter(([name]) => secretName.test(name)).map(([, value]) => value);
  return [parsed.search, ...values].map((text) => new Secret(text));
}
