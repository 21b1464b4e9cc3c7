import type { Ability, ClientRequest } from '../model/client-abilities.ts';
import { type CallOrigin, stepSpanId } from './span-parts.ts';
import type { Transcript } from './transcript.ts';

/** An open request of the server. The caller calls exactly one of `complete` and `abandon`, once. */
export interface ClientRequestRecord {
  /** The step that led to the request; null if none did. */
  readonly origin: CallOrigin | null;
  complete(result: unknown): void;
  /** Ends a request that gets no answer. */
  abandon(): void;
}

const methods: { readonly [Name in Ability]: string } = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

/** Records a request of the server to its client, under the current step. */
export function beginClientRequest(
  transcript: Transcript,
  request: ClientRequest,
  params: unknown,
): ClientRequestRecord {
  const { ability } = request;
  const { clientRequests, currentStep, messages, spans, startedAtMs } = transcript;
  (clientRequests[ability] ??= []).push(request);
  const id = `${ability}_${transcript.countClientRequest()}`;
  const name = methods[ability];
  const now = () => Math.round(startedAtMs + transcript.elapsedMs());
  const startMs = now();
  const say = (role: 'server' | 'client', what: unknown) =>
    messages.push({ role, content: [{ type: 'text', text: `${name} ${JSON.stringify(what, null, 2)}` }] });
  const end = (isOk: boolean) =>
    spans.push({
      id,
      ...(currentStep !== null && {
        parentId: stepSpanId(currentStep.stepIndex),
        stepIndex: currentStep.stepIndex,
        authoredStepId: currentStep.step.id,
      }),
      name,
      category: 'client',
      startMs,
      endMs: now(),
      status: isOk ? 'ok' : 'error',
    });
  say('server', params);
  return {
    origin: currentStep === null ? null : { ...currentStep, promptIndex: null },
    complete: (result) => {
      say('client', result);
      end(true);
    },
    abandon: () => end(false),
  };
}
