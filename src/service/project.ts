import { ConfigurationError, ProtocolError, ServiceError } from '../base/errors.ts';
import { callOperation } from './call-operation.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { findNamed, formatNamed, suggestNamed } from './named.ts';
import { accountOperations } from './operations/account.ts';
import type { WireProject } from './wire.ts';

/**
 * Finds the project with this id, or else with exactly this name; if none is given, the only project. Make it the first call, because it
 * distinguishes a wrong key or base URL from a service failure.
 *
 * @throws {ConfigurationError} for the input `project`, `api-key` or `base-url`
 */
export async function requireProject(
  client: ServiceClient,
  { project, ...options }: { project: string | null } & CallOptions,
): Promise<WireProject> {
  const listed = await callOperation(client, accountOperations.listProjects, {}, options).catch((error: unknown) => {
    throw explainFirstRefusal(error);
  });
  const projects = listed.items;
  if (projects.length === 0) {
    throw refuseProject('no-project', 'The API key sees no project; create one, or use the key of another account.');
  }
  const matches = project === null ? projects : findNamed(projects, project);
  const [match, ...others] = matches;
  if (match !== undefined && others.length === 0) return match;
  if (project === null) {
    throw refuseProject('several-projects', `The API key sees several projects; choose from ${formatNamed(matches)}.`);
  }
  const name = JSON.stringify(project);
  throw match === undefined
    ? refuseProject('unknown-project', `No project has the id or the name ${name}${suggestNamed(projects, project)}`)
    : refuseProject('several-projects', `Several projects are called ${name}; give an id: ${formatNamed(matches)}.`);
}

function refuseProject(code: string, message: string): ConfigurationError {
  return new ConfigurationError([{ code, input: 'project', message }]);
}

/** Explains a refusal of the first call. Every valid key may make this call, so the key or the address is wrong. */
function explainFirstRefusal(error: unknown): unknown {
  if (error instanceof ServiceError && (error.status === 401 || error.status === 403)) {
    const message = `The service does not take the key. ${error.message}`;
    return new ConfigurationError([{ code: 'refused-api-key', input: 'api-key', message }], {
      hint: 'Check that the API key is the whole key, belongs to this service and was not revoked.',
      cause: error,
    });
  }
  if (error instanceof ProtocolError || (error instanceof ServiceError && error.status === 404)) {
    const message = `The base URL does not lead to the eval service. ${error.message}`;
    return new ConfigurationError([{ code: 'not-the-service', input: 'base-url', message }], {
      hint: 'A base URL ends with the path and the version of the API, such as https://host/api/v1.',
      cause: error,
    });
  }
  return error;
}
