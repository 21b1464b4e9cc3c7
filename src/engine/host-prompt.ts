import { joinSignals } from '../base/time.ts';
import type { Step } from '../cases/step.ts';
import type { HostAdapter } from '../host-drivers/driver.ts';
import { FilteredError } from '../models/filtered-error.ts';
import { answerProvider, type Asked, explainUnmeasured } from './driven-model.ts';
import { type DrivenRun, type DrivenTurn, nameServer, type Stop } from './driven-run.ts';
import { answerMcp } from './driven-servers.ts';
import type { Connection } from './process-loss.ts';
import { describeToolErrors, explainNoList, listCalls, type PromptAllowance } from './prompt-step.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { CallRecording } from './tool-call.ts';
import { listAllTools } from './tool-list.ts';

/**
 * Has the program of a host answer a prompt. Its requests to the servers go through this session, where they are recorded as the calls of
 * the model; those to the model go through the session of the model, with its budget and its recording. Anything that the host itself does not
 * do, such as approving a call, leaves the iteration without a result: it says nothing about the server.
 *
 * @throws {ModelError} if the model gives no answer
 * @throws the signal's reason once it aborts
 */
export async function runHostPrompt(
  step: Extract<Step, { kind: 'prompt' }>,
  connection: Connection,
  { turn, allowance, ...recording }: CallRecording & { turn: DrivenTurn; allowance: PromptAllowance },
): Promise<StepOutcome> {
  const { transcript, stepIndex } = recording;
  const { program, session } = turn;
  const listing = await listAllTools(connection);
  if (listing.kind !== 'list') return explainNoList(listing);
  for (const [serverName, list] of listing.lists) transcript.setTools(serverName, list);
  const [firstCall, firstResult] = [transcript.toolCalls.length, transcript.toolResults.length];
  transcript.beginTurn(step.prompt, { system: null });
  const ending = new AbortController();
  using ended = joinSignals([connection.signal, ending.signal]);
  const stops: Stop[] = [];
  const run: DrivenRun = {
    turn,
    connection,
    recording,
    origin: { step, stepIndex, promptIndex: transcript.turns.length - 1 },
    tools: listing,
    prompt: step.prompt,
    acceptsRefusal: allowance.refusal,
    listed: new Set(),
    stop: (end) => {
      stops.push(end);
      ending.abort(new Error('The host is ended.'));
    },
    signal: ended.signal,
  };
  const asked: Asked = { answers: 0, open: new Map(), messages: [] };
  const { output, failure } = await program.run({
    model: session.model.name,
    prompt: step.prompt,
    servers: connection.all.map((each) => ({ name: nameServer(each), answer: answerMcp(each, run) })),
    answerProvider: inTurn((request, mask) => answerProvider(request, mask, { run, asked })),
    signal: ended.signal,
  });
  connection.signal.throwIfAborted();
  const evidence = { toolCalls: listCalls(transcript, firstCall, firstResult) };
  const [end] = stops;
  if (end !== undefined) {
    if (!('error' in end)) return { evidence, ...end.outcome };
    if (!(allowance.refusal && end.error instanceof FilteredError)) throw end.error;
    transcript.refusal = end.error.message;
  } else {
    const problem = findProblem(program.adapter, { output, failure, asked });
    if (problem !== null) return { evidence, ...explainUnmeasured(problem) };
  }
  const reason = describeToolErrors(transcript, firstResult, allowance);
  return { status: reason === null ? 'ok' : 'fail', reason, effect: 'continue', evidence };
}

function findProblem(
  { id }: HostAdapter,
  {
    output,
    failure,
    asked,
  }: { output: { denials: readonly string[]; errors: readonly string[] }; failure: string | null; asked: Asked },
): string | null {
  const name = `The host ${id}`;
  const [denial] = output.denials;
  if (denial !== undefined) return `${name} refused a call: ${denial}`;
  const [error] = output.errors;
  if (error !== undefined) return `${name} failed: ${error}`;
  if (failure !== null) return `${name} died: ${failure}.`;
  return asked.answers === 0 ? `${name} ended and never asked the model.` : null;
}

/** Makes the calls of a function one after the other. */
function inTurn<Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return async (...args) => {
    const next = last.then(async () => await call(...args));
    last = next.catch(() => {});
    return await next;
  };
}
