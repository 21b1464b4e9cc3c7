import { Secret } from '../../base/redaction.ts';
import { buildReportJsonSchema } from '../../model/report.ts';
import type { GateOptions } from '../options/schema.ts';

/** What the job passes through is often a secret of it, and what a workflow writes out only where it is called one. */
const secretName = /key|token|secret|pass|pwd|credential|auth|private|signature|cookie|dsn/i;
const urlWithPassword = /:\/\/[^/?#\s]*:[^/?#\s]+@/;

/** Lists which variables of a server no output may show. */
export function listVariableSecrets(
  environment: ReadonlyMap<string, Secret>,
  written: GateOptions['serverEnv'],
): Secret[] {
  const secrets = [...environment]
    .filter(([name, value]) => written.get(name) === null || isSecret(name, value))
    .map(([, value]) => value);
  return keepDistinct(secrets);
}

/** Leaves out what the report is made of. */
export function keepDistinct(secrets: readonly Secret[]): Secret[] {
  if (secrets.length === 0) return [];
  // `failed` hides nothing, and taken out of everything it would take the verdict along.
  const vocabulary = JSON.stringify(buildReportJsonSchema());
  return secrets.filter((secret) => !vocabulary.includes(secret.reveal()));
}

/** Whether a value written in a file is secret, by its name or its form. */
export function isSecret(name: string, value: Secret): boolean {
  return secretName.test(name) || urlWithPassword.test(value.reveal());
}

/** Lists what of a URL no output may show, of the query: whole, and the values whose names say that they are secret. */
export function listUrlSecrets(url: string | null): Secret[] {
  const parsed = URL.parse(url ?? '');
  if (parsed === null || parsed.search === '') return [];
  const values = [...parsed.searchParams].filter(([name]) => secretName.test(name)).map(([, value]) => value);
  return [parsed.search, ...values].map((text) => new Secret(text));
}
