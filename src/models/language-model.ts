import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { JsonObject } from '../base/json.ts';
import type { ModelParameters } from '../cases/case.ts';
import type { HostWireId } from '../hosts/host-wires.ts';

/** A model as files and options name it: `provider/name`. The name may contain slashes. */
export interface ModelName {
  provider: string;
  name: string;
}

/** A tool that a model may call. The schema is what the server wrote, which need not be a JSON Schema. */
export type FunctionTool = Omit<LanguageModelV4FunctionTool, 'inputSchema'> & { inputSchema: Readonly<JsonObject> };

/** All data that influence the answer of a model, in the AI SDK's own shapes. */
export interface ModelCall extends ModelParameters {
  /** The conversation so far: system, user, assistant and tool messages. */
  prompt: LanguageModelV4Prompt;
  /** Empty if the model may call no tool. */
  tools: FunctionTool[];
  toolChoice?: LanguageModelV4ToolChoice;
  temperature?: number;
  /** How a host runs that makes the call itself. A recording was made with the same. */
  hostProgram?: { platform: string; builtIns: 'on' | 'off' };
}

/** A call in the words of the host that makes it. */
export interface HostRequest {
  wire: HostWireId;
  /** Below the base URL of the provider, which ends in its version, with the query. */
  path: string;
  /** Those that the provider may see. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** @throws {Error} if the response is not a complete answer */
  readAnswer(response: { contentType: string; text: string }): Omit<ModelAnswer, 'isReplayed'>;
}

/** The answer of a model to one call. */
export interface ModelAnswer {
  content: LanguageModelV4Content[];
  finishReason: LanguageModelV4FinishReason;
  usage: LanguageModelV4Usage;
  /** True if it was read from a recording: no call was made, and nothing was spent. */
  isReplayed: boolean;
}

export interface AnswerOptions {
  signal: AbortSignal;
  /** The time limit of the call with its repetitions, in milliseconds, instead of that of the source. It is no part of a recording. */
  timeoutMs?: number;
  /** True if a withheld answer is a result: it is then recorded, and replayed as the same error. */
  acceptsRefusal?: boolean;
  /** What is sent to the provider instead of the call, which then only identifies the request in recordings. */
  hostRequest?: HostRequest;
  /** Replaces the paths of this call in recordings, next to the mask of the session. */
  mask?: TextMask;
}

/** A model for one iteration of one case. Its calls are made one after the other. */
export interface ModelSession {
  readonly model: ModelName;
  /**
   * Makes one call of the model, with its retries, or reads the answer from a recording.
   *
   * @throws {ModelError} if there is no answer, with the reason; {FilteredError} if the provider withholds it
   * @throws the signal's reason once it aborts
   */
  answer(call: ModelCall, options: AnswerOptions): Promise<ModelAnswer>;
}

/** Finish reasons of Mistral and of proxies for answers that are cut at a limit. The packages do not know them. */
const cutReasons: ReadonlySet<string> = new Set(['model_length', 'max_tokens', 'max_output_tokens']);

/** True if the model reached its output limit before it was done. */
export function isCutOff({ finishReason: { unified, raw = '' } }: Pick<ModelAnswer, 'finishReason'>): boolean {
  return unified === 'length' || (unified === 'other' && cutReasons.has(raw.toLowerCase()));
}

/** The iteration that opens a session, and the model that it asks for. */
export interface ModelRequest {
  model: ModelName;
  /** The service's id of the case. */
  caseId: string;
  /** Counted from 1. */
  iterationNumber: number;
  /** Keys that came with the run, by provider. They take precedence over the keys of the source. */
  apiKeys: ReadonlyMap<string, string>;
  /** Set if the model judges the case instead of taking part in it. Judges have separate recordings. */
  purpose?: 'judge';
  /** Set if the conversation contains paths that differ in each iteration. Recordings hold their placeholders. */
  mask?: TextMask;
}

/** Replaces the paths of one iteration by placeholders, and placeholders by paths. */
export interface TextMask {
  hide<Value>(value: Value): Value;
  show<Value>(value: Value): Value;
}

/** The source of the models of iterations: providers, recordings, or both. */
export interface ModelSource {
  /** Explains why no session with a model can be opened, such as a missing key, with the remedy; null if one can be opened. */
  findProblem(request: Pick<ModelRequest, 'model' | 'apiKeys'>): string | null;
  /** @throws {ModelError} `refused` if no key is known for the provider */
  openSession(request: ModelRequest): Promise<ModelSession>;
}
