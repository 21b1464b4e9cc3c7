import type { JsonObject } from '../base/json.ts';
import type { HostWireId } from '../hosts/host-wires.ts';
import type { ModelAnswer } from '../models/language-model.ts';

/** What an adapter gets to start its host once: places that exist and are empty, and the two proxies of the gate. */
export interface HostPlace {
  /** The HOME of the host. */
  home: string;
  /** The working directory of the host, outside of any repository. */
  directory: string;
  /** The MCP servers of the configuration. Each command is a stub that connects to the gate. */
  servers: ReadonlyArray<{ name: string; command: readonly [string, ...string[]] }>;
  /** The proxy for calls of the model: an origin without a path, and the token that it takes instead of a key. */
  provider: { url: string; token: string };
  /** The name of the model, without its provider. */
  model: string;
  prompt: string;
  /** `off` takes the host's own tools away, where the host can do that. */
  builtIns: 'on' | 'off';
}

/** How a host starts. The environment has nothing else but PATH, HOME, TMPDIR, TERM, TZ, LANG and USER, which the gate sets. */
export interface HostStart {
  /** Files to write before the start, by absolute path. */
  files: ReadonlyMap<string, string>;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** What the host reads from its standard input; nothing by default. */
  input?: string;
}

/** What a host wrote. The exit code says nothing: hosts end with 0 although a call was refused. */
export interface HostOutput {
  /** The final answer; null if the output has none. */
  text: string | null;
  /** The calls of the servers' tools that the host refused to make, as sentences. */
  denials: readonly string[];
  /** What the host reports as its own failure, as sentences. */
  errors: readonly string[];
}

/** A request of a host to its provider. */
export interface ProviderRequest {
  method: string;
  /** With the query. */
  path: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** The parsed body; null if there is none or it is not JSON. */
  body: unknown;
}

/** What the proxy sends back. */
export interface ProviderResponse {
  status: number;
  contentType: string;
  body: string;
}

/** A tool as the model sees it. */
export interface ShownTool {
  /** The name that the model calls. */
  name: string;
  description: string | null;
  /** Null for a tool of which the model knows the name only, until it searches for it. */
  schema: JsonObject | null;
}

/** A server in the configuration of a host. */
export interface ConfiguredServer {
  name: string;
  /** Null if the server has none. */
  instructions: string | null;
}

/** The part of a main request that belongs to the servers under test. It has nothing of the host's own prompt and tools. */
export interface ShownServers {
  /** Only tools of the servers, in the order of the request. */
  tools: readonly ShownTool[];
  /** The instructions of the servers as the model sees them; null if they are not found in the request. */
  instructions: string | null;
  /** True if the model can search for tools of which the request has not even a name. */
  canSearch?: boolean;
}

/** The result of a call that a request brings back to the model. */
export interface ReturnedResult {
  /** The id of the call in the answer that asked for it; its place among the calls there, from 0, if the wire has no ids. */
  callId: string | number;
  /** As JSON, in the words of the wire. Each part of it is compared with a recording. */
  output: unknown;
}

/** The wire format between a host and its provider. */
export interface Wire {
  id: HostWireId;
  /**
   * Returns the path below the base URL of the provider, which ends in its version: `/messages` of `/v1/messages?beta=true`. Null for a
   * path that the proxy never forwards.
   */
  toProviderPath(path: string): string | null;
  /** Returns the model that a request names; null if it names none. */
  readModel(request: ProviderRequest): string | null;
  /** Lists all tools of a request, those of the host included. */
  readTools(request: ProviderRequest): readonly ShownTool[];
  /** Lists the texts of the system prompt, of all messages, and of what else can hold the instructions of a server. */
  readTexts(request: ProviderRequest): readonly string[];
  /** Lists the results of the calls of the latest answer, in the order of the request. */
  readResults(request: ProviderRequest): readonly ReturnedResult[];
  /**
   * Reads a successful response of the provider, streamed or not. `readResults` returns the ids of calls later, or their places.
   *
   * @throws {Error} if the response is not complete
   */
  readAnswer(response: ProviderResponse): Omit<ModelAnswer, 'isReplayed'>;
  /** Prints an answer as the provider would send it to this request, streamed if the request asks for it. */
  printAnswer(answer: ModelAnswer, request: ProviderRequest): ProviderResponse;
  /** Prints an error as the provider would. */
  printError(status: number, message: string): ProviderResponse;
}

/**
 * A request of a host. `main`: the model answers it, and it belongs to the conversation. `side`: a title, a count of tokens or a list of models; the
 * proxy answers it itself and it reaches no provider.
 */
export type RequestKind = { kind: 'main' } | { kind: 'side'; answer: ProviderResponse };

/** Everything that the gate knows of driving one host. All of it is pure: the gate writes the files and starts the process. */
export interface HostAdapter {
  /** The id of the host's profile, such as `claude-code`. */
  id: string;
  /** The program, looked up in PATH. */
  program: string;
  wire: Wire;
  /** True if the host can run without its own tools. */
  canDropBuiltIns: boolean;
  start(place: HostPlace): HostStart;
  readOutput(output: { stdout: string; stderr: string }): HostOutput;
  classify(request: ProviderRequest): RequestKind;
  readShown(request: ProviderRequest, servers: readonly ConfiguredServer[]): ShownServers;
  /** The name by which the model calls a tool of a server, without a cut. */
  nameTool(server: string, tool: string): string;
}

/** The part of an adapter that starts a host, which a benchmark needs, too. */
export type HostStarter = Pick<HostAdapter, 'id' | 'program' | 'start'>;

/** Reads the version from what a host prints for `--version`; null if there is none. All known hosts print it with words around it. */
export function readVersion(output: string): string | null {
  return /\d+\.\d+\.\d+(?:[\w+-]|\.\w)*/.exec(output)?.[0] ?? null;
}
