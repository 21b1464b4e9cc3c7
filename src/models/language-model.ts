import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';

/** A model as files and options name it: `provider/name`. A name may have slashes of its own. */
export interface ModelName {
  provider: string;
  name: string;
}

/** Everything that decides what a model answers, in the AI SDK's own shapes. */
export interface ModelCall {
  /** The conversation so far: system, user, assistant and tool messages. */
  prompt: LanguageModelV4Prompt;
  /** Empty where the model may call nothing. */
  tools: LanguageModelV4FunctionTool[];
  toolChoice?: LanguageModelV4ToolChoice;
  temperature?: number;
  maxOutputTokens?: number;
}

/** What a model answered to one call. */
export interface ModelAnswer {
  content: LanguageModelV4Content[];
  finishReason: LanguageModelV4FinishReason;
  usage: LanguageModelV4Usage;
  /** Whether it was read from a recording: no call was made, and nothing was spent. */
  isReplayed: boolean;
}

export interface AnswerOptions {
  signal: AbortSignal;
  /** Whether an answer that the provider withholds is a result: it is then recorded, and replayed as the same error. */
  acceptsRefusal?: boolean;
}

/** A model for one iteration of one case. Its calls are made one after the other. */
export interface ModelSession {
  readonly model: ModelName;
  /**
   * Makes one call of the model, with its retries, or reads the answer from a recording.
   *
   * @throws {ModelError} where there is no answer, and why; {FilteredError} where the provider withholds it
   * @throws the signal's reason once it aborts
   */
  answer(call: ModelCall, options: AnswerOptions): Promise<ModelAnswer>;
  /** Of a session that may replay: where its answers came from so far. */
  report?(): ReplayReport;
}

/** Where the answers of an iteration came from. */
export interface ReplayReport {
  /** Answers read from a recording. */
  replayed: number;
  /** Answers of the provider. */
  live: number;
  /** Why the recording was not used any further, or not at all; null where it was, and where none was to be read. */
  stale: string | null;
}

/** Finish reasons of answers that are cut at a limit, and that the packages do not know: of Mistral, and of proxies. */
const cutReasons: ReadonlySet<string> = new Set(['model_length', 'max_tokens', 'max_output_tokens']);

/** Whether the model reached its output limit before it was done. */
export function isCutOff({ finishReason: { unified, raw = '' } }: Pick<ModelAnswer, 'finishReason'>): boolean {
  return unified === 'length' || (unified === 'other' && cutReasons.has(raw.toLowerCase()));
}

/** Which iteration wants to talk to which model. */
export interface ModelRequest {
  model: ModelName;
  /** The service's id of the case. */
  caseId: string;
  /** Counted from 1. */
  iterationNumber: number;
  /** Keys that came with the run, by provider; they go before those of the source. */
  apiKeys: ReadonlyMap<string, string>;
  /** Set where the model judges the case instead of taking part in it. Judges have recordings of their own. */
  purpose?: 'judge';
}

/** Where iterations get their models from: providers, recordings, or both. */
export interface ModelSource {
  /** Says why no session with a model can be opened, such as a key that is missing, and the remedy; null where one can. */
  findProblem(request: Pick<ModelRequest, 'model' | 'apiKeys'>): string | null;
  /** @throws {ModelError} `refused` where no key is known for the provider */
  openSession(request: ModelRequest): Promise<ModelSession>;
}
