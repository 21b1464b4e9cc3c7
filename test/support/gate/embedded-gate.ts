import { type Clock, systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import type { GateContext } from '../../../src/gate/run/context.ts';
import { gate, type GateResult } from '../../../src/gate/gate.ts';
import { type GatePlan, planGate } from '../../../src/gate/plan/plan.ts';
import { publishFiles } from '../../../src/gate/publish/publish-files.ts';
import { publishRecordings } from '../../../src/gate/publish/publish-recordings.ts';
import { publishOnline } from '../../../src/gate/publish/publish-online.ts';
import { createJumpingClock } from '../clocks/bent-clock.ts';
import { startSayingServer } from '../servers/saying-server.ts';
import { type GateInputs, readGateInputs } from './gate-inputs.ts';
import type { Workspace } from '../workspace.ts';

export interface EmbeddedGate extends GateResult {
  warnings: string[];
  /** Further messages of the gate. */
  infos: string[];
  plan: GatePlan;
}

interface GateSurroundings extends Pick<GateContext, 'watchEvidence'> {
  /** The answer of the usual server. */
  says?: string;
  environment?: Record<string, string>;
  signal?: AbortSignal;
  /** Called with the messages of the gate while it works. */
  onInfo?: (message: string) => void;
  /** The clock of the gate itself. */
  clock?: Clock;
  /** The clock of requests that publish results online. */
  onlineClock?: Clock;
}

/** Shortens the waits between attempts, which only a remote service needs. */
const createQuickClock = () => createJumpingClock({ fromMs: 20, toMs: 60_000, instead: 20 });

/**
 * Runs a gate with the embedded service in a workspace, writes its files there and returns the other published results. The server runs in the
 * test's process. Its tool `argv` answers with `says`, so that a case can pass in one gate and fail in the next. Inputs can name another
 * server; by default, one process of it serves all iterations.
 */
export async function runEmbeddedGate(
  workspace: Workspace,
  inputs: GateInputs = {},
  surroundings: GateSurroundings = {},
): Promise<EmbeddedGate> {
  const { says = '', environment = {}, signal = new AbortController().signal, onInfo, watchEvidence } = surroundings;
  const warnings: string[] = [];
  const infos: string[] = [];
  const logger = {
    ...silentLogger,
    info: (message: string) => {
      infos.push(message);
      onInfo?.(message);
    },
    warning: (message: string) => void warnings.push(message),
  };
  const redactor = createRedactor();
  const variables = { PATH: process.env['PATH'] ?? '', ...environment };
  const hasServer = 'server-command' in inputs || 'server-url' in inputs;
  await using server = hasServer ? null : await startSayingServer(says);
  const usual = { evals: '*.evals.yaml', ...(server === null ? { isolation: 'run' } : { 'server-url': server.url }) };
  const plan = await planGate(readGateInputs({ ...usual, ...inputs }), {
    cwd: workspace.path,
    environment: variables,
  });
  const result = await gate(plan, {
    clock: surroundings.clock ?? systemClock,
    logger,
    redactor,
    signal,
    environment: variables,
    ...(watchEvidence && { watchEvidence }),
  });
  await publishFiles(result.report, plan, { logger, redactor, summaryPath: null, evidence: result.evidence });
  if (plan.models !== null) {
    const isInPlace = plan.models.mode === 'record';
    await publishRecordings(result.recordings, plan, { isInPlace, logger, redactor });
  }
  const clock = surroundings.onlineClock ?? createQuickClock();
  await publishOnline(result, plan, { clock, logger, redactor, signal });
  return { ...result, warnings, infos, plan };
}

/** Writes cases with these ids. Each passes if the server says its id. */
export function writeSayingCases(suite: string, ids: readonly string[], { head = '' } = {}): string {
  const cases = ids.map(
    (id) => `  - id: ${id}
    title: Says ${id}
    steps:
      - toolCall: argv
      - assert: { toolResultContains: '"${id}"' }
`,
  );
  return `suite: ${suite}\n${head}cases:\n${cases.join('')}`;
}
