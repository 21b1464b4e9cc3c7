import type { Findings } from '../../base/findings.ts';
import { type BehaviourPolicy, applyBehaviourDefaults } from '../../model/behaviour-policy.ts';
import { type GateRules, type JobEffects, type PolicyLayer, readJobEffects } from '../../model/policy.ts';
import { readWorkspace, type Workspace } from '../../workspace/workspace.ts';
import type { GateOptions } from '../options/schema.ts';
import type { CiJob } from './ci-job.ts';
import type { PlannedBase } from './plan-base.ts';
import type { PlannedServer } from './plan-server.ts';

/** How the behaviour of the server is compared with that of the base. */
export interface PlannedBehaviour {
  policy: BehaviourPolicy;
  /** The server of the change. */
  server: PlannedServer;
  /** The files that each world of both sides starts with. */
  workspace: Workspace;
  sandbox: GateOptions['sandbox'];
  /** True if the sandbox is enabled on a hosted runner first. */
  isSandboxEnabled: boolean;
  /** Decides the requests of the exploration. */
  seed: number;
  /** The exploration of the base is cut after this time. */
  exploringMs: number;
  /** What the verdict means for the job if the gate has no suite; null if it has one. */
  alone: JobEffects | null;
  /** Why there is nothing to compare with; null if there is a base. */
  problem: string | null;
}

/** The label of a pull or merge request that accepts every difference. */
export const acceptingLabel = 'accept-behaviour';

const defaultSeed = 1;

/**
 * Plans the comparison of the behaviour. Null if the options do not ask for it, or if there is no base and cases are judged in any case.
 */
export async function planBehaviour(
  options: GateOptions,
  {
    cwd,
    ci,
    rules,
    common,
    servers,
    base,
    suites,
  }: {
    cwd: string;
    ci: Pick<CiJob, 'labels'>;
    rules: GateRules;
    common: PolicyLayer;
    servers: readonly PlannedServer[];
    base: Pick<PlannedBase, 'servers'> | null;
    suites: readonly unknown[];
  },
  findings: Findings,
): Promise<PlannedBehaviour | null> {
  if (options.behaviour === 'off' || options.merge.length > 0) return null;
  const [server] = servers;
  const refuse = (input: string, message: string) => findings.add({ input, code: 'behaviour-of-one-server', message });
  if (options.mcpConfig !== null && servers.length > 1) {
    refuse(
      'mcp-config',
      `names ${servers.length} servers, and \`behaviour\` compares one; name it, as in \`${options.mcpConfig.path}#name\``,
    );
  }
  if (server === undefined) return null;
  if (server.url !== null) {
    refuse(
      'mcp-config',
      'names a server at a `url`, which cannot start in copies of a workspace; name one with a `command`, or leave `behaviour` out',
    );
  }
  if (base?.servers.some(({ url }) => url !== null) === true) {
    refuse(
      'base',
      'has a `url`, and `behaviour` starts the server of the base itself, over stdio; remove `url`, or leave `behaviour` out',
    );
  }
  const isAlone = suites.length === 0;
  if (base === null && !isAlone) return null;
  // Loaded lazily: most gates compare no behaviour.
  const { generatedWorkspace } = await import('../../explore/world/generated-files.ts');
  const workspace =
    options.workspace === null
      ? generatedWorkspace
      : await readWorkspace(options.workspace, cwd).catch(findings.absorb);
  if (workspace === undefined) return null;
  return {
    policy: {
      behaviour: applyBehaviourDefaults(rules.behaviour),
      acceptingLabel: ci.labels.includes(acceptingLabel) ? acceptingLabel : null,
    },
    server,
    workspace,
    sandbox: options.sandbox,
    isSandboxEnabled: options.enableSandbox,
    seed: options.base?.seed ?? defaultSeed,
    exploringMs: options.behaviourTimeLimit,
    alone: isAlone ? readJobEffects(common) : null,
    problem:
      base === null
        ? 'this is no pull or merge request. Run the gate on `pull_request`, or give `evals`, which need no base.'
        : null,
  };
}
