import { isRecord, type JsonObject } from '../base/json.ts';
import { Disposer } from '../base/disposal.ts';
import { emptyEvidence, type ToolResult } from '../checks/evidence.ts';
import { judgeCheck } from '../checks/judge-check.ts';
import { printValue } from '../checks/reasons.ts';
import { type CallOutput, readResult } from '../engine/call-output.ts';
import { createCheckContext } from '../engine/judge-assertion.ts';
import { readTarget } from '../gate/plan/surface-part.ts';
import { openServerSession, planOneServer } from '../gate/reach-server.ts';
import { classifyCallFault } from '../mcp/faults.ts';
import { defaultConfiguration, type Surface, surfaceFileVersion } from '../model/surface.ts';
import type { ServerFactory } from '../server/in-process-server.ts';
import { parseCheck, writtenCheckSchema } from '../suite/assertion-schema.ts';
import { compareSurfaces } from '../surface/compare-surfaces.ts';
import { parseSurfaceFile, renderSurfaceFile } from '../surface/file.ts';
import { cancelWith, readServerOptions, type ServerOptions, type Surroundings } from './server-options.ts';

/** The options of the fixture `server`: those that start or reach a server. */
export interface TestedServerOptions extends ServerOptions, Surroundings {
  /** Makes the server in this process, as in `runGate`. */
  server?: ServerFactory | undefined;
}

/** A server that was started for a test, with one session. */
export interface TestedServer {
  /**
   * Calls a tool. An error of the tool is a result with `isError`, and so is a JSON-RPC error.
   *
   * @throws if no answer comes
   */
  callTool(name: string, args?: JsonObject): Promise<ToolResult>;
  /** Reads what the server shows its clients: tools, prompts, resources and instructions. */
  readSurface(): Promise<Surface>;
}

/**
 * Starts or reaches a server and opens a session with it. The disposal stops the server.
 *
 * @throws {ConfigurationError} if the options describe no server
 * @throws {ServerStartError} if it does not start
 * @throws {CancelledError} once the signal aborts
 */
export async function openTestedServer(given: TestedServerOptions): Promise<TestedServer & AsyncDisposable> {
  const { server: inProcess } = given;
  const { options, cwd, context } = readServerOptions({ ...given }, { own: ['server'] });
  const { clock, signal, environment } = context;
  return await cancelWith(signal, async () => {
    const planned = await planOneServer(options, { cwd, environment, ...(inProcess && { inProcess }) });
    await using resources = new Disposer();
    const { session, target } = resources.use(await openServerSession(planned, context));
    const kept = resources.move();
    return {
      callTool: async (toolName, args = {}) => {
        const startedAtMs = clock.monotonicMs();
        const output = await answer(async () => await session.callTool(toolName, args, { signal }), toolName);
        const answeredAtMs = clock.monotonicMs();
        const asked = { toolName, arguments: args };
        return { ...readResult(asked, { ...output, answeredAtMs }, answeredAtMs - startedAtMs), isListed: null };
      },
      readSurface: async () => await readTarget(target, { clock, signal, timeoutMs: planned.readyTimeoutMs }),
      [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
    };
  });
}

type Result = Extract<CallOutput, { kind: 'result' }>['result'];
type Answer = CallOutput extends infer Each ? (Each extends CallOutput ? Omit<Each, 'answeredAtMs'> : never) : never;

async function answer(send: () => Promise<Result>, toolName: string): Promise<Answer> {
  try {
    const result = await send();
    const toolError = result.isError === true ? `${toolName} answered with an error.` : null;
    return { kind: 'result', result, toolError };
  } catch (error) {
    const fault = classifyCallFault(error);
    if (fault.kind === 'unreachable') throw error;
    const toolError = `${toolName} failed: ${printValue(fault.message)}.`;
    return { kind: 'error', message: fault.message, toolError, code: fault.kind === 'answered' ? fault.code : null };
  }
}

/** @throws {TypeError} if a matcher of a test gets something else than it is for */
export function requireMember(value: unknown, member: string, wanted: string): void {
  if (isRecord(value) && member in value) return;
  throw new TypeError(`${printValue(value)} is not ${wanted}`);
}

/**
 * Judges a result by an assertion as an evals file has it, such as `{ toolResultEquals: 5 }`. A text stands for `toolResultContains`.
 *
 * @throws {TypeError} if it is no assertion, if `result` is no result of a tool, or if the assertion cannot be measured on one, such as a judge
 */
export async function judgeToolResult(
  result: ToolResult,
  expected: unknown,
): Promise<{ pass: boolean; reason: string; compared: { expected: unknown; actual: unknown } | null }> {
  requireMember(result, 'toolError', 'the result of `server.callTool`, which has to be awaited');
  const written = typeof expected === 'string' ? { toolResultContains: expected } : expected;
  if (!writtenCheckSchema.safeParse(written).success) {
    throw new TypeError(
      `${printValue(expected)} is no assertion of an evals file, such as { toolResultContains: "text" }`,
    );
  }
  const evidence = { ...emptyEvidence, toolResults: [result] };
  const judgement = await judgeCheck(parseCheck(written), evidence, createCheckContext());
  const { state, reason, compared } = judgement;
  // Neither may pass under `not`.
  if (state === 'unmeasured' || judgement.failsClosed !== undefined) throw new TypeError(reason);
  const values = compared?.kind === 'values' ? { expected: compared.expected, actual: compared.actual } : null;
  return { pass: state === 'passed', reason, compared: values };
}

/**
 * Renders a surface as the text of a surface file, with the other configurations of the text that the file has. Lists the changes from it.
 *
 * @throws {ConfigurationError} if the text is no surface file
 */
export function describeSurface(
  surface: Surface,
  known: { text: string; path: string } | null,
): { text: string; changes: string[] } {
  const file = known === null ? null : parseSurfaceFile(known.text, known.path);
  const before = file?.configurations[defaultConfiguration];
  return {
    text: renderSurfaceFile({
      version: surfaceFileVersion,
      ...file,
      configurations: { ...file?.configurations, [defaultConfiguration]: surface },
    }),
    changes:
      before === undefined
        ? []
        : compareSurfaces(before, surface).map(({ severity, message }) => `${severity}: ${message}`),
  };
}
