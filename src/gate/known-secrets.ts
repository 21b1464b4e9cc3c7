import { Secret } from '../base/redaction.ts';
import { listOptions } from './options.ts';
import { listOtelSecrets } from './plan/otel-variables.ts';

/** Credentials that a runner gives a job, used or not. */
const jobCredentials = ['GITHUB_TOKEN', 'GH_TOKEN', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];

/**
 * Lists what must not be shown of the texts of options, whether or not they can be read, and of the environment. For a
 * redactor, before anything is said of either.
 */
export function listKnownSecrets(
  texts: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
): Secret[] {
  const options = listOptions().filter(({ isSecret }) => isSecret === true);
  const values = options.flatMap(({ name, isList }) => {
    const text = texts[name]?.trim() ?? '';
    // `provider=key`, of which a careless line may be nothing but the key.
    return isList === true ? text.split(/\r?\n/).map((line) => line.slice(line.indexOf('=') + 1).trim()) : [text];
  });
  const credentials = jobCredentials.map((name) => environment[name] ?? '');
  return [...values, ...credentials, ...listOtelSecrets(environment)]
    .filter((value) => value !== '')
    .map((value) => new Secret(value));
}
