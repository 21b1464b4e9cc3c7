import { describeError } from '../../base/errors.ts';
import type { WitnessedEnd } from '../../model/process-end.ts';
import type { WidgetObservation, WidgetToolCall } from '../../model/widget.ts';
import { boundConnection, type Connection, explainFailedRequest } from '../process-loss.ts';
import { printValue } from '../../checks/reasons.ts';
import { lookUpTool } from '../tool-list.ts';
import type { Transcript } from '../transcript.ts';
import type { HostAnswer } from './app-host.ts';

/** Forwards requests of an app from the host to the server. */
export interface Forwarder {
  callTool: (toolName: string, args: Record<string, unknown>) => Promise<HostAnswer>;
  readResource: (uri: string) => Promise<HostAnswer>;
  /** The end of the server process during a call of the app; null if it did not end. */
  readonly loss: { witnessed: WitnessedEnd; toolName: string } | null;
}

/** Error codes for an app: -32601 for a tool that it may not call, -32603 if the server gave no answer. */
const methodNotFound = -32_601;
const internalError = -32_603;

/** Stops an app that calls tools in an endless loop. */
const maxCalls = 1000;

/**
 * Forwards the calls of an app to its server, and records them in its observation. Refuses tools that the server does not list or keeps
 * from apps (`_meta.ui.visibility`), as MCP Apps requires of a host.
 */
export function createCallForwarder(
  connection: Connection,
  {
    observation,
    signal,
    transcript,
  }: { observation: Pick<WidgetObservation, 'toolCalls' | 'toolName'>; signal: AbortSignal; transcript: Transcript },
): Forwarder {
  let loss: Forwarder['loss'] = null;
  const bound = boundConnection(connection, signal);
  const refuse = (code: number, message: string): HostAnswer => ({ error: { code, message } });
  const explain = async (error: unknown, what: string): Promise<HostAnswer> => {
    if (signal.aborted) return refuse(internalError, 'The iteration is over.');
    const fault = await explainFailedRequest(error, bound);
    if (fault.kind === 'lost') {
      loss = { witnessed: fault.witnessed, toolName: what };
      return refuse(internalError, 'The process of the server ended.');
    }
    return refuse(fault.kind === 'answered' ? (fault.code ?? internalError) : internalError, fault.message);
  };
  const call = async (toolName: string, args: Record<string, unknown>, record: WidgetToolCall): Promise<HostAnswer> => {
    const tool = await lookUpTool(toolName, bound);
    if (tool.kind !== 'listed') {
      const message =
        tool.kind === 'missing' || tool.kind === 'refused' ? tool.reason : 'The server gave no list of its tools.';
      return refuse(methodNotFound, message);
    }
    if (!tool.isForApps) return refuse(methodNotFound, `The server keeps the tool ${printValue(toolName)} from apps.`);
    record.isForwarded = true;
    const startMs = transcript.elapsedMs();
    const addSpan = (isOk: boolean) => transcript.addWidgetCall({ toolName, startMs, isOk });
    try {
      const { taskSupport } = tool;
      const options = { signal, traceParent: undefined, taskSupport, onUpdate: () => {} };
      const result = await connection.session.callTool(toolName, args, options);
      addSpan(result.isError !== true);
      if (result.isError === true) record.error = 'it answered with an error';
      return { result };
    } catch (error) {
      addSpan(false);
      return await explain(error, toolName);
    }
  };
  return {
    get loss() {
      return loss;
    },
    callTool: async (toolName, args) => {
      if (observation.toolCalls.length === maxCalls) return refuse(internalError, `An app may make ${maxCalls} calls.`);
      const record: WidgetToolCall = { toolName, isForwarded: false, error: null };
      observation.toolCalls.push(record);
      const answer = await call(toolName, args, record).catch((error: unknown) =>
        refuse(internalError, describeError(error)),
      );
      if ('error' in answer) record.error = answer.error.message;
      return answer;
    },
    readResource: async (uri) => {
      try {
        const request = { method: 'resources/read', params: { uri } } as const;
        return { result: await connection.session.request(request, { signal }) };
      } catch (error) {
        return await explain(error, 'resources/read').catch((reason: unknown) =>
          refuse(internalError, describeError(reason)),
        );
      }
    },
  };
}
