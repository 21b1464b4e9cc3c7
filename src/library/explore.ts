import type { Exploration } from '../explore/exploration.ts';
import type { ExploreProgress } from '../explore/explore.ts';
import { readCorpus } from '../explore/read-corpus.ts';
import type { ConfigurationIssue } from '../base/errors.ts';
import { explorePlanned, openExploration } from '../gate/explore-planned.ts';
import type { PolicyInput } from '../suite/policy-schema.ts';
import type { GivenOptions } from './option-texts.ts';
import {
  cancelWith,
  checkWhole,
  readDuration,
  readServerOptions,
  type ServerOptions,
  type Surroundings,
} from './server-options.ts';
import { requireOptions } from './option-texts.ts';

/** The options of `explore`. */
export interface ExploreServerOptions
  extends ServerOptions, Surroundings, Pick<GivenOptions, 'sandbox' | 'enableSandbox'> {
  /** The directory whose copy each process works in, or `empty`. Default: a few generated files. */
  workspace?: string | undefined;
  /** Decides what chance decides: the same seed sends the same requests. Default: 1. */
  seed?: number | undefined;
  /** The most requests. Default: 500, or 25 for each tool if that is more. */
  budget?: number | undefined;
  /** In milliseconds, or a text such as `2m`, which is the default. Then the exploration is cut. */
  timeLimit?: number | string | undefined;
  /** The tools that are called. Default: all in a strict sandbox, else those declared read-only. */
  call?: 'read-only' | 'all' | undefined;
  /** Tools that are called although they are not declared read-only. */
  safeTools?: readonly string[] | undefined;
  /** An earlier exploration of the same server, whose requests are sent first. */
  earlier?: Exploration | undefined;
  /** A policy file, or its value: `explore` waives findings. */
  policy?: string | PolicyInput | undefined;
  /** Called whenever another part of the work begins, and after each session. Must not throw. */
  onProgress?: ((progress: ExploreProgress) => void) | undefined;
}

const own = ['workspace', 'seed', 'budget', 'timeLimit', 'call', 'safeTools', 'earlier', 'onProgress'] as const;

/** As `explore` in functions.ts says. */
export async function exploreServerOf(given: ExploreServerOptions): Promise<Exploration> {
  requireOptions(given);
  const { workspace, seed = 1, budget, timeLimit, call, safeTools = [], earlier, onProgress } = given;
  const time = readDuration('timeLimit', timeLimit, 120_000);
  const known = earlier === undefined ? null : readCorpus(JSON.stringify(earlier));
  const issues: ConfigurationIssue[] = [
    ...checkWhole('seed', given.seed, 0),
    ...checkWhole('budget', budget, 1),
    ...time.issues,
    ...(call === undefined || call === 'all' || call === 'read-only'
      ? []
      : [
          {
            input: 'call',
            code: 'invalid-value',
            message: `${JSON.stringify(call)} is neither \`read-only\` nor \`all\``,
          },
        ]),
    ...(earlier !== undefined && known === null
      ? [{ input: 'earlier', code: 'no-corpus', message: 'is no exploration of this version' }]
      : []),
  ];
  const more = ['sandbox', 'enableSandbox', 'policy'];
  const { options, cwd, context } = readServerOptions({ ...given }, { more, own, issues });
  return await cancelWith(context.signal, async () => {
    const planned = await openExploration(options, {
      cwd,
      environment: context.environment,
      workspace: workspace ?? null,
      call: call ?? 'by-sandbox',
    });
    const plan = { ...planned, seed, budget: budget ?? null, timeLimitMs: time.ms, safeTools, earlier: known };
    const explored = await explorePlanned(planned.server, plan, {
      ...context,
      onProgress: onProgress ?? (() => {}),
    });
    return planned.waive(explored).exploration;
  });
}
