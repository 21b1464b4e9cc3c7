import type { RunCreateBody, SuiteContent } from '../bodies/stored-suite.ts';
import { invalid, notFound, notSupported } from '../envelope.ts';
import { requireServer } from '../lookup.ts';
import type { FindRunTarget, RunTarget } from '../run-request.ts';
import type { PluginSkill } from '../plugins/inventory.ts';
import type { Environments } from './environment-records.ts';
import { type ResolvedEnvironment, resolveEnvironment, type ResolveParts } from './resolve.ts';

interface TargetParts extends ResolveParts {
  environments: Environments;
}

/**
 * Makes the function that finds the target of a run. A suite with environments runs in one of them: the one that the request names, or the
 * only one. Otherwise, the request may name one of the suite's hosts.
 */
export function createFindRunTarget(parts: TargetParts): FindRunTarget {
  return (projectId, suite, body) => {
    const { environmentId, namedHostId } = body;
    if (suite === null) {
      if (environmentId !== undefined) throw invalid('environmentId: Only allowed with suiteId');
      if (namedHostId !== undefined) throw invalid('namedHostId: Only allowed with suiteId');
      return null;
    }
    if (environmentId !== undefined && namedHostId !== undefined) {
      throw invalid('A run takes place in an environment or on a host; send one of environmentId and namedHostId.', {
        reason: 'HETEROGENEOUS_TARGETS',
      });
    }
    if (namedHostId !== undefined) return findHost(parts, projectId, { suite: suite.content, hostId: namedHostId });
    const chosen = chooseEnvironment(suite.content, body);
    if (chosen === null) return null;
    const environment = parts.environments.require(projectId, chosen);
    return describeTarget(resolveEnvironment(environment, parts), body);
  };
}

function chooseEnvironment({ environmentIds = [] }: SuiteContent, body: RunCreateBody): string | null {
  const { environmentId, serverIds } = body;
  const [first, ...others] = environmentIds;
  if (environmentId !== undefined) requireAttached(environmentIds, environmentId);
  if (first === undefined) return null;
  if (serverIds !== undefined) {
    throw invalid('serverIds: The environment of the run says its servers', {
      reason: 'ENVIRONMENT_SERVERS_NOT_OVERRIDABLE',
    });
  }
  if (environmentId === undefined && others.length > 0) {
    throw invalid('environmentId: Required, since the suite has several environments', {
      reason: 'ENVIRONMENT_REQUIRED',
      environmentIds,
    });
  }
  return environmentId ?? first;
}

/** @throws {ApiError} VALIDATION_ERROR for an environment that is not attached to the suite */
export function requireAttached(environmentIds: readonly string[], environmentId: string): void {
  if (environmentIds.includes(environmentId)) return;
  throw invalid('environmentId: Not an environment of the suite; attach it first', {
    reason: 'ENVIRONMENT_NOT_ATTACHED',
    environmentId,
    environmentIds,
  });
}

function describeTarget(resolved: ResolvedEnvironment, body: RunCreateBody): RunTarget {
  const { environment, config, model, servers } = resolved;
  const { id, content } = environment;
  const skills = body.skillsOverride === 'exclude' ? [] : resolved.skills;
  if (content.sandboxImageId !== undefined) {
    throw notSupported('This service runs no evals in sandbox images; remove sandboxImageId from the environment.');
  }
  return {
    servers: servers.map(({ record }) => record),
    // The environment decides the model alone: the suite's model is not used.
    settings: { ...readPrompting(config.settings), model: model?.id ?? null },
    skills: skills.length === 0 ? null : renderSkills(skills),
    environment: { id, name: content.name, revision: content.revision },
  };
}

function findHost(
  { store, hosts }: TargetParts,
  projectId: string,
  { suite, hostId }: { suite: SuiteContent; hostId: string },
): RunTarget {
  const attached = suite.hosts?.find((host) => host.hostId === hostId);
  if (attached === undefined) {
    const details = { reason: 'HOST_NOT_ATTACHED', hostId, hostIds: suite.hosts?.map((host) => host.hostId) ?? [] };
    throw invalid('namedHostId: Not a host of the suite; attach it first', details);
  }
  const host = hosts.get(projectId, hostId);
  if (host === undefined) throw notFound('Host');
  const { settings } = hosts.getConfig(host);
  const own = hosts.getServers(host);
  const optional = own.optionalServerIds.filter((id) => store.servers.get(projectId, id)?.content.enabled === true);
  const serverIds = attached.serverIds ?? [...own.serverIds, ...optional];
  return {
    servers: serverIds.length === 0 ? null : serverIds.map((id) => requireServer(store, projectId, id)),
    settings: { ...readPrompting(settings), ...(settings.modelId !== undefined && { model: settings.modelId }) },
    skills: null,
    environment: null,
  };
}

function readPrompting({ systemPrompt, temperature }: { systemPrompt?: string; temperature?: number }) {
  return { ...(systemPrompt !== undefined && { systemPrompt }), ...(temperature !== undefined && { temperature }) };
}

/** Renders the files of skills unchanged, because models also read the front matter. */
function renderSkills(skills: readonly PluginSkill[]): string {
  const texts = skills.map(({ name, instructions }) => `## ${name}\n\n${instructions.trim()}`);
  return ['# Skills', 'Follow these instructions where they apply.', ...texts].join('\n\n');
}
