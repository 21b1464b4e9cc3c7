import {
  type Client,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitRequestParams,
  type ElicitResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Root,
  SdkError,
  SdkErrorCode,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { isRecord } from '../base/json.ts';
import { abilities, type Ability } from '../model/client-abilities.ts';

/** Answers the requests of a server to its client. An ability without a function is not announced. */
export interface ClientAbilities {
  elicitation?: (request: ElicitRequestParams) => Promise<ElicitResult>;
  sampling?: (request: CreateMessageRequestParams) => Promise<CreateMessageResult | CreateMessageResultWithTools>;
  roots?: () => Promise<Root[]>;
  /** Called for each request of the server that no function covers, such as `sampling`. */
  onLack?: (lack: Lack) => void;
}

/** A capability that a server needed and that its client did not announce. */
export interface Lack {
  /** Null if a case cannot offer it. */
  ability: Ability | null;
  /** The name of the capability, such as `sampling` or `extensions.example.com/x`. */
  name: string;
}

const methods: { readonly [Method in string]?: Ability } = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const capabilities: { readonly [Name in Ability]: Pick<ClientCapabilities, Name> } = {
  // The SDK fills in the defaults of form fields that an answer leaves out.
  elicitation: { elicitation: { form: { applyDefaults: true }, url: {} } },
  sampling: { sampling: { tools: {} } },
  roots: { roots: {} },
};

/** Lists the capabilities that a client with these functions announces: no more than it can answer. */
export function announce(offered: ClientAbilities): ClientCapabilities {
  return announceNames(abilities.filter((ability) => offered[ability] !== undefined));
}

/** Lists the capabilities that a client with these abilities announces. */
export function announceNames(names: readonly Ability[]): ClientCapabilities {
  return names.reduce<ClientCapabilities>((announced, name) => Object.assign(announced, capabilities[name]), {});
}

/** Names the ability that a request of a server asks for; null for another method. */
export function readAskedAbility(method: string): Ability | null {
  return methods[method] ?? null;
}

/** Makes a client answer requests and `input_required` results; the SDK passes both to the same handlers. */
export function answerRequests(client: Client, { elicitation, sampling, roots, onLack }: ClientAbilities): void {
  if (elicitation !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => await elicitation(params));
  }
  if (sampling !== undefined) {
    client.setRequestHandler('sampling/createMessage', async ({ params }) => await sampling(params));
  }
  if (roots !== undefined) client.setRequestHandler('roots/list', async () => ({ roots: await roots() }));
  client.fallbackRequestHandler = async ({ method }) => {
    const ability = methods[method];
    if (ability !== undefined) onLack?.({ ability, name: ability });
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `The client offers no ${ability ?? method}.`);
  };
}

/**
 * Finds the capability that the client lacked for a failed request: the SDK refused to answer an `input_required` result, or the server
 * names a capability (-32021) that was not announced. Null if the error has another reason.
 */
export function findLack(error: unknown, announced: ClientCapabilities): Lack | null {
  if (error instanceof SdkError && error.code === SdkErrorCode.CapabilityNotSupported) {
    const method = isRecord(error.data) ? error.data['method'] : undefined;
    const ability = typeof method === 'string' ? methods[method] : undefined;
    return ability === undefined ? null : { ability, name: ability };
  }
  if (error instanceof UrlElicitationRequiredError) {
    return announced.elicitation === undefined ? { ability: 'elicitation', name: 'elicitation' } : null;
  }
  if (error instanceof MissingRequiredClientCapabilityError) {
    const name = findMissing(error.requiredCapabilities, announced);
    if (name === null) return null;
    const ability = abilities.find((ability) => ability === name.split('.')[0]) ?? null;
    return { ability: ability !== null && announced[ability] === undefined ? ability : null, name };
  }
  return error instanceof ProtocolError ? findClaimedLack(error.message, announced) : null;
}

/** Finds the path of the first capability that is required and not announced. */
function findMissing(required: unknown, announced: unknown): string | null {
  if (!isRecord(required)) return null;
  const known = isRecord(announced) ? announced : {};
  for (const [name, part] of Object.entries(required)) {
    if (known[name] === undefined) return name;
    const missing = findMissing(part, known[name]);
    if (missing !== null) return `${name}.${missing}`;
  }
  return null;
}

const abilityWords: { readonly [Name in Ability]: RegExp } = {
  elicitation: /\belicit/i,
  sampling: /\bsampling\b|\bcreateMessage\b/i,
  roots: /\broots\b/i,
};

/** Matches the messages of SDKs in several languages for a request that the client does not support. */
const refusal =
  /\b(?:client|session|host)\b.*\b(?:(?:not|n't|no|cannot) (?:\w+ )?(?:support|declare|offer|advertise|announce|provide)|lacks|without|unsupported)|\bnot (?:supported|declared|offered|advertised|available|provided) (?:by|in|from|on) (?:the |this |your |mcp )*(?:client|session|host)|\b(?:client|session|host)\b.*\bnot (?:supported|available)/i;

/**
 * Finds the ability that the client lacks according to a text of the server; null if it was announced. Servers of the legacy era may
 * check the announced capabilities without sending a request, so that their own words are the only evidence.
 */
export function findClaimedLack(text: string, announced: ClientCapabilities): Lack | null {
  if (!refusal.test(text)) return null;
  const ability = abilities.find((name) => announced[name] === undefined && abilityWords[name].test(text));
  return ability === undefined ? null : { ability, name: ability };
}
