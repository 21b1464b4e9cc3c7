import { resolve } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { redactDeep } from '../base/redaction.ts';
import { generatedWorkspace } from '../explore/world/generated-files.ts';
import type { GateOptions } from '../gate/options/schema.ts';
import { planOneServer } from '../gate/reach-server.ts';
import { compareWorlds } from '../gate/run/compare-worlds.ts';
import type { MeasuredBehaviour } from '../model/behaviour.ts';
import { readWorkspace } from '../workspace/workspace.ts';
import { refuseType, requireOptions, type GivenOptions } from './option-texts.ts';
import { cancelWith, checkWhole, readDuration, readServerOptions, type Surroundings } from './server-options.ts';

type StartOptions = Pick<GivenOptions, 'serverCommand' | 'serverCwd' | 'serverEnv' | 'mcpConfig'>;

/** The options of `compareBehaviour`. */
export interface CompareBehaviourOptions
  extends StartOptions, Surroundings, Pick<GivenOptions, 'sandbox' | 'enableSandbox'> {
  /** How the server of the base starts. What it leaves out is as for the change. */
  base: StartOptions;
  /** The directory whose copy each process works in, or `empty`. Default: a few generated files. */
  workspace?: string | undefined;
  /** Decides what chance decides: the same seed sends the same requests. Default: 1. */
  seed?: number | undefined;
  /** The most requests of the exploration. Default: 500, or 25 for each tool if that is more. */
  budget?: number | undefined;
  /** The time to explore the base, in milliseconds or as a text such as `2m`, which is the default. */
  timeLimit?: number | string | undefined;
}

const own = ['base', 'workspace', 'seed', 'budget', 'timeLimit'] as const;

/** As `compareBehaviour` in functions.ts says. */
export async function compareBehaviourOf(given: CompareBehaviourOptions): Promise<MeasuredBehaviour> {
  requireOptions(given);
  const { base, workspace, seed = 1, budget, timeLimit, ...head } = given;
  const time = readDuration('timeLimit', timeLimit, 120_000);
  const issues = [...checkWhole('seed', given.seed, 0), ...checkWhole('budget', budget, 1), ...time.issues];
  if (typeof base !== 'object' || base === null) {
    const message = refuseType(base, 'the options that start the server of the base');
    issues.push({ input: 'base', code: 'bad-option-type', message });
  }
  const more = ['sandbox', 'enableSandbox'];
  const { options, cwd, context } = readServerOptions({ ...given }, { more, own, issues });
  const ofBase = readServerOptions({ ...head, ...base }, { more });
  return await cancelWith(context.signal, async () => {
    const sources = { cwd, environment: context.environment };
    const plan = async (side: GateOptions) => {
      const server = await planOneServer(side, sources);
      if (server.url === null) return { server, roots: [resolve(server.cwd)] };
      const message = 'is at a URL, and each session needs a new process; give a command';
      throw new ConfigurationError([{ input: 'server-url', code: 'behaviour-of-url', message }]);
    };
    const sides = { base: await plan(ofBase.options), head: await plan(options) };
    for (const { server } of Object.values(sides)) for (const secret of server.secrets) context.redactor.add(secret);
    const { measured } = await compareWorlds(
      {
        ...sides,
        sandbox: options.sandbox,
        isSandboxEnabled: options.enableSandbox,
        workspace: workspace === undefined ? generatedWorkspace : await readWorkspace(workspace, cwd),
        identity: '',
        cached: null,
        seed,
        budget: budget ?? null,
        timeLimitMs: time.ms,
      },
      { ...context, environment: { ...context.environment } },
    );
    return redactDeep(measured, context.redactor);
  });
}
