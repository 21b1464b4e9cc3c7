import path from 'node:path';
import { systemClock } from '../../src/base/time.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { gate } from '../../src/gate/gate.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import type { CaseReport } from '../../src/model/case-report.ts';
import type { Report } from '../../src/model/report.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { createWorkspace } from '../support/workspace.ts';
import { faultArgument } from './conversation.ts';
import { type CaseName, findExpected, type Observation, type Shape, type Transport } from './expected-outcomes.ts';
import { startHttpShim } from './http-shim.ts';

/** A case: a call, and the text its result must hold. */
export interface ServerCase {
  tool: string;
  arguments: Record<string, unknown>;
  contains: string;
}

/** A real server that runs or can be started, and three cases on it that pass. */
export interface TestedServer extends AsyncDisposable {
  name: string;
  cases: Record<CaseName, ServerCase>;
  /** The stdio shim's arguments: `-- <command>` or `--connect <socket>`. */
  stdio: string;
  /** Its MCP endpoint. */
  url: string;
}

/** Time-outs of what never ends well, so they cost time only. */
const shortTimeout = '1s';
const shortReadyTimeout = '2s';

const shims = import.meta.dirname;

/** The shim starts with every process, so what Node makes of it is kept. */
const compileCache = `NODE_COMPILE_CACHE=${path.resolve(shims, '../../node_modules/.cache/node')}`;

/** Runs a gate on a server with a fault in between. */
export async function runShape(server: TestedServer, shape: Shape, transport: Transport): Promise<Observation> {
  const [observation] = await runShapes(server, [shape], transport);
  if (observation === undefined) throw new Error(`The gate with ${shape.fault} was not observed.`);
  return observation;
}

/** Runs one gate on a server with several faults of calls in between, and cases without a fault around each. */
export async function runShapes(
  server: TestedServer,
  shapes: readonly Shape[],
  transport: Transport,
): Promise<Observation[]> {
  const { tool } = server.cases[shapes[0]?.hits ?? 'target'];
  const faultNames = shapes.map(({ fault }) => fault);
  const needsProcess = shapes.some((shape) => shape.needsProcess === true);
  const planned = planCases(server.cases, shapes);
  await using workspace = await createWorkspace({ 'cases.evals.yaml': writeCases(planned) });
  await using stack = new AsyncDisposableStack();
  // That the end of a process shows through a sandbox, too, is in test/gate/process-crash.test.ts.
  const inputs: Record<string, string> = { sandbox: 'off' };
  if (shapes.some((shape) => shape.neverReady === true && findExpected(shape, transport) === 'nothing runs'))
    inputs['server-ready-timeout'] = shortReadyTimeout;
  if (transport !== 'HTTP') {
    inputs['server-command'] =
      `${process.execPath} ${shims}/stdio-shim.ts ${faultNames.join()} ${tool} ${server.stdio}`;
    inputs['isolation'] = transport === 'stdio' ? 'iteration' : 'run';
    inputs['server-env'] = compileCache;
  } else if (needsProcess) {
    const port = await findFreePort();
    const words = [process.execPath, `${shims}/http-shim-process.ts`, faultNames.join(), tool, port, server.url];
    inputs['server-command'] = words.join(' ');
    inputs['server-url'] = `http://127.0.0.1:${port}/mcp`;
    inputs['server-env'] = compileCache;
    inputs['isolation'] = 'iteration';
  } else {
    const options = { faultNames, targetTool: tool, upstream: server.url, port: 0 };
    const shim = stack.use(await startHttpShim(options));
    inputs['server-url'] = shim.url;
    inputs['isolation'] = 'iteration';
  }
  const report = await runGate(workspace.path, inputs);
  return shapes.map((_, index) => observe(report, planned.slice(2 * index, 2 * index + 3)));
}

interface PlannedCase extends ServerCase {
  id: string;
  isShort: boolean;
}

/** Two cases for each fault and one before them: the fault of a shape hits the case between two others. */
function planCases(cases: TestedServer['cases'], shapes: readonly Shape[]): PlannedCase[] {
  const [alone] = shapes;
  if (shapes.length === 1 && alone !== undefined) {
    const { hits = 'target', isShort = false } = alone;
    return Object.entries(cases).map(([name, each]) => ({ ...each, id: name, isShort: isShort && name === hits }));
  }
  const { first, target, last } = cases;
  return [
    { ...first, id: 'first', isShort: false },
    ...shapes.flatMap(({ fault, isShort = false }) => [
      { ...target, arguments: { ...target.arguments, [faultArgument]: fault }, id: fault, isShort },
      { ...last, id: `after-${fault}`, isShort: false },
    ]),
  ];
}

/** Runs a gate and publishes nothing. */
async function runGate(cwd: string, inputs: Record<string, string>): Promise<Report> {
  const environment = { PATH: process.env['PATH'] ?? '' };
  const options = parseGateOptions({ evals: '*.evals.yaml', ...inputs });
  const plan = await planGate(options, { cwd, environment });
  const { signal } = new AbortController();
  const context = { clock: systemClock, logger: silentLogger, redactor: createRedactor(), signal, environment };
  return (await gate(plan, context)).report;
}

/** What the report says of three cases in a row, whose second one a fault hits. */
function observe({ verdict, cases }: Report, [first, target, last]: readonly PlannedCase[]): Observation {
  const own = cases.filter(({ id }) => [first, target, last].some((planned) => planned?.id === id));
  const observeCase = (planned: PlannedCase | undefined) => {
    const found = own.find(({ id }) => id === planned?.id);
    if (found === undefined || found.total < found.planned) return found?.failed ? 'failed' : 'unscored';
    return found.failed > 0 ? 'failed' : 'passed';
  };
  return {
    outcome: {
      verdict: verdict.outcome,
      cases: { first: observeCase(first), target: observeCase(target), last: observeCase(last) },
    },
    reasons: [
      ...(own.length === cases.length ? verdict.reasons.map(({ message }) => message) : []),
      ...own.flatMap(listReasons),
    ],
  };
}

function listReasons({ id, failures }: CaseReport): string[] {
  return failures.map(({ reasons }) => `${id}: ${reasons.join(' ')}`);
}

/**
 * One line of JSON per step, which is YAML too. One iteration at a time: a fault that takes the server down also takes down the
 * cases that run at the same time.
 */
function writeCases(planned: readonly PlannedCase[]): string {
  const written = planned.map(({ id, tool, arguments: args, contains, isShort }) => {
    const timeout = isShort ? { timeout: shortTimeout } : {};
    const steps = [{ toolCall: tool, arguments: args }, { assert: { toolResultContains: contains } }];
    return `  - ${JSON.stringify({ id, title: `The case ${id}`, ...timeout, steps })}`;
  });
  return `suite: Shapes\nconcurrency: 1\ncases:\n${written.join('\n')}\n`;
}
