import type { ModelCall, ModelRequest, ModelSource } from '../../../src/models/language-model.ts';
import { createScriptedSession, type ScriptedAnswer } from './scripted-session.ts';

/** A source of scripted models that records its requests. */
export interface ScriptedSource extends ModelSource {
  requests: ModelRequest[];
  /** More scripts may be added until their sessions are opened. */
  scripts: Array<ReadonlyArray<ScriptedAnswer | Error>>;
  /** The calls of each session, in the order in which the sessions were opened. */
  asked: ModelCall[][];
}

/**
 * Makes a source whose sessions play the scripts one after the other, and then always the last one. All models of the provider `scripted` can be
 * asked; other providers have no key.
 */
export function createScriptedSource(...given: ReadonlyArray<ReadonlyArray<ScriptedAnswer | Error>>): ScriptedSource {
  const scripts = [...given];
  const requests: ModelRequest[] = [];
  const asked: ModelCall[][] = [];
  return {
    requests,
    scripts,
    asked,
    findProblem: ({ model, apiKeys }) =>
      model.provider === 'scripted' || apiKeys.has(model.provider)
        ? null
        : `${model.provider.toUpperCase()}_API_KEY is not set.`,
    openSession: async (request) => {
      const session = createScriptedSession(scripts[Math.min(requests.length, scripts.length - 1)] ?? []);
      requests.push(request);
      asked.push(session.asked);
      return { ...session, model: request.model };
    },
  };
}
