import {
  extractWWWAuthenticateParams,
  ProtocolError as JsonRpcError,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { GateError } from '../base/errors.ts';
import { isRecord, type JsonObject } from '../base/json.ts';
import { clipText, endSentence, formatCount } from '../base/text.ts';
import { type Clock, formatDuration, race, startDeadline } from '../base/time.ts';
import { withAccess } from './access.ts';
import { createFailedDiagnosis, type Diagnosis, type DoctorCheck, doctorSteps, type Probe } from './diagnosis.ts';
import { describeUnreachable } from './faults.ts';
import { createFetch } from './fetch.ts';
import type { ServerRequest } from './requests.ts';
import { type HttpTarget, isNetworkFailure, openSession, type Session } from './session.ts';
import { createTrafficBudget, iterationLimits } from './traffic-budget.ts';

interface Limits {
  clock: Clock;
  signal: AbortSignal;
  /** The time limit of all steps together. */
  timeoutMs: number;
}

/** JSON-RPC 2.0, section 5.1. */
const methodNotFound = -32601;

const longestDetail = 300;

/** The lists of a server, each with the step that reads it. */
const lists = [
  { step: 'tools', capability: 'tools', method: 'tools/list', one: 'tool' },
  { step: 'resources', capability: 'resources', method: 'resources/list', one: 'resource' },
  {
    step: 'resourceTemplates',
    capability: 'resources',
    method: 'resources/templates/list',
    one: 'resource template',
  },
  { step: 'prompts', capability: 'prompts', method: 'prompts/list', one: 'prompt' },
] as const;

/**
 * Examines a server step by step: checks if its URL answers, if the answer is that of an MCP server, and if the server lists everything
 * that it declares. `started` replaces the first step if the caller has started the server.
 *
 * @throws the signal's reason once it aborts; every misbehaviour of the server is a finding
 */
export async function diagnoseServer(
  target: HttpTarget,
  { started, ...limits }: Limits & { started?: DoctorCheck },
): Promise<Diagnosis> {
  const examination = startExamination(limits);
  const found = started === undefined ? await probe(target, examination) : { check: started, probe: null };
  if (found.check.status === 'error') return createFailedDiagnosis(found.check, found.probe);
  const opened = await examination
    // The gate does not test servers that redirect.
    .run((signal) => openSession(target, { clock: limits.clock, signal, followsRedirects: false }))
    .catch((error: unknown) => {
      limits.signal.throwIfAborted();
      return { error };
    });
  if ('error' in opened) return explainRefusal(opened.error, found);
  await using session = opened;
  return await examineSession(session, found, examination);
}

/** Runs the steps of one examination within its time limit. */
interface Examination {
  /** The signal of the caller. */
  signal: AbortSignal;
  /** @throws the error of the step, or an error that says how long it took */
  run<T>(step: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

function startExamination({ clock, signal, timeoutMs }: Limits): Examination {
  const deadline = startDeadline(clock, timeoutMs, 'The examination of the server');
  return {
    signal,
    run: async (step) => {
      const over = new AbortController();
      try {
        return await race(step(AbortSignal.any([signal, over.signal])), {
          signals: [signal],
          timeout: {
            clock,
            afterMs: deadline.remainingMs(),
            onTimeout: () => {
              throw new Error(`it did not answer within ${formatDuration(timeoutMs)}`);
            },
          },
        });
      } finally {
        over.abort('over');
      }
    },
  };
}

/** Sends a bare GET, which healthy servers refuse: any answer shows that a server is there. */
async function probe(
  target: HttpTarget,
  examination: Examination,
): Promise<{ check: DoctorCheck; probe: Probe | null }> {
  const { origin, pathname } = new URL(target.url);
  const url = `${origin}${pathname}`;
  try {
    const send = withAccess(createFetch(createTrafficBudget(iterationLimits, 'for a probe')), target.access);
    const answer = await examination.run(async (signal) => {
      const headers = { accept: 'text/event-stream', ...target.headers };
      const response = await send(target.url, { headers, signal });
      void response.body?.cancel().catch(() => {});
      return response;
    });
    const { status, headers } = answer;
    const found = {
      url,
      status,
      contentType: headers.get('content-type'),
      wwwAuthenticate: headers.get('www-authenticate'),
    };
    const type = found.contentType === null ? '' : `, ${clipText(found.contentType, longestDetail)}`;
    const said = `Something answers at ${url} (to a bare GET with HTTP ${status}${type}).`;
    if (status < 300 || status >= 400) return { check: { status: 'ok', detail: said }, probe: found };
    const leads = URL.parse(headers.get('location') ?? '', target.url);
    const where = leads === null ? '' : ` It redirects to ${leads.origin}${leads.pathname}; use that URL.`;
    return { check: { status: 'error', detail: `${said}${where}` }, probe: found };
  } catch (error) {
    examination.signal.throwIfAborted();
    const why = describeFailure(error, target);
    return { check: { status: 'error', detail: `${url} cannot be reached: ${why}` }, probe: null };
  }
}

/** Makes the diagnosis of a server that answers but opens no session. */
function explainRefusal(error: unknown, found: { check: DoctorCheck; probe: Probe | null }): Diagnosis {
  const failed = createFailedDiagnosis(found.check, found.probe);
  const status = error instanceof SdkHttpError ? error.status : undefined;
  const isNoAnswer = isNetworkFailure(error);
  if (status === 401 || status === 403) {
    const detail = describeChallenge(status, found.probe);
    const isGrant = status === 401 && /^(?:bearer\b.*)?$/is.test(found.probe?.wwwAuthenticate ?? '');
    const connection: DoctorCheck = { status: 'error', detail };
    return {
      ...failed,
      status: isGrant ? 'oauth_required' : 'error',
      connection: { status: 'error', detail },
      checks: { ...failed.checks, connection },
      error: { code: isGrant ? 'OAUTH_REQUIRED' : 'SERVER_UNREACHABLE', message: detail },
    };
  }
  const moved = findRedirect(error);
  const remedy =
    moved === null
      ? 'Check that the URL is that of the MCP endpoint, which often ends in /mcp.'
      : `It redirects to ${moved}; use that URL.`;
  const detail = isNoAnswer
    ? `The connection broke off: ${describeFailure(error)}`
    : `It did not complete the handshake of MCP: ${describeFailure(error)} ${remedy}`;
  const check: DoctorCheck = { status: 'error', detail };
  const answers: DoctorCheck = { status: 'ok', detail: 'The server takes requests.' };
  return {
    ...failed,
    connection: { status: 'error', detail },
    checks: {
      ...failed.checks,
      ...(isNoAnswer ? { connection: check } : { connection: answers, initialization: check }),
    },
    error: { code: 'SERVER_UNREACHABLE', message: detail },
  };
}

/** Finds the target of a redirect, without the query; null for another error. The SDK reports it only in its message. */
function findRedirect(error: unknown): string | null {
  if (!(error instanceof SdkHttpError) || error.status < 300 || error.status >= 400) return null;
  const [, url] = /^Error POSTing to endpoint: Redirect .*?(https?:\/\/\S+)/.exec(error.message) ?? [];
  return url === undefined ? null : clipText(url, longestDetail);
}

function describeChallenge(status: number, answer: Probe | null): string {
  const header = answer?.wwwAuthenticate ?? null;
  const headers = new Headers(header === null ? {} : { 'www-authenticate': header });
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(new Response(null, { status, headers }));
  const [scheme] = /^[\w-]+/.exec(header ?? '') ?? [];
  const asks = scheme === undefined ? '' : ` It asks for ${scheme}.`;
  const needs = scope === undefined ? '' : ` It needs the scope ${JSON.stringify(clipText(scope, longestDetail))}.`;
  const metadata = resourceMetadataUrl === undefined ? '' : ` Its metadata is at ${resourceMetadataUrl.origin}.`;
  return `The server refuses requests with HTTP ${status}.${asks}${needs}${metadata}`;
}

/** Describes the server's introduction of itself, under the names of the protocol. */
export function describeServer({
  handshake,
  capabilities,
  instructions,
}: Pick<Session, 'handshake' | 'capabilities' | 'instructions'>): JsonObject {
  const { protocolVersion, name, version } = handshake;
  const serverInfo = { name, version };
  return { protocolVersion, serverInfo, capabilities, ...(instructions !== null && { instructions }) };
}

async function examineSession(
  session: Session,
  found: { check: DoctorCheck; probe: Probe | null },
  examination: Examination,
): Promise<Diagnosis> {
  const { handshake, capabilities } = session;
  const { protocolVersion, name, version } = handshake;
  const items: Record<(typeof lists)[number]['step'], unknown[]> = {
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
  const checks: Diagnosis['checks'] = {
    ...createFailedDiagnosis(found.check).checks,
    connection: { status: 'ok', detail: 'A session is open.' },
    initialization: { status: 'ok', detail: `${describeName(name, version)} speaks MCP ${protocolVersion}.` },
    capabilities: { status: 'ok', detail: describeCapabilities(capabilities) },
  };
  for (const { step, capability, method, one } of lists) {
    const listed =
      capabilities[capability] === undefined
        ? { items: [], check: { status: 'skipped' as const, detail: `The server declares no ${capability}.` } }
        : await readList(session, { method, one }, examination);
    items[step] = listed.items;
    checks[step] = listed.check;
  }
  const broken = doctorSteps.filter((step) => checks[step].status === 'error');
  return {
    status: broken.length === 0 ? 'ready' : 'partial',
    probe: found.probe,
    connection: { status: 'connected', detail: checks.initialization.detail },
    initInfo: describeServer(session),
    capabilities,
    ...items,
    checks,
    error:
      broken.length === 0 ? null : { code: 'INCOMPLETE', message: broken.map((step) => checks[step].detail).join(' ') },
  };
}

async function readList(
  session: Session,
  { method, one }: { method: Extract<ServerRequest, { page?: unknown }>['method']; one: string },
  examination: Examination,
): Promise<{ items: unknown[]; check: DoctorCheck }> {
  try {
    const answer = await examination.run((signal) => session.request({ method }, { signal }));
    const items = Object.values(isRecord(answer) ? answer : {}).find((value) => Array.isArray(value)) ?? [];
    return { items, check: { status: 'ok', detail: `${formatCount(items.length, one)}.` } };
  } catch (error) {
    examination.signal.throwIfAborted();
    // A server with resources need not have resource templates.
    if (method === 'resources/templates/list' && error instanceof JsonRpcError && error.code === methodNotFound) {
      return { items: [], check: { status: 'skipped', detail: 'The server has no resource templates.' } };
    }
    return { items: [], check: { status: 'error', detail: `${method} failed: ${describeFailure(error)}` } };
  }
}

function describeName(name: string | null, version: string | null): string {
  const words = [name ?? 'A server without a name', ...(version === null ? [] : [version])];
  return clipText(words.join(' '), longestDetail);
}

function describeCapabilities(capabilities: JsonObject): string {
  const names = Object.keys(capabilities);
  return names.length === 0 ? 'It declares none.' : `${clipText(names.join(', '), longestDetail)}.`;
}

/** Describes an error in a sentence, without the query of the URL, which may be a key. */
function describeFailure(error: unknown, target?: HttpTarget): string {
  const text = error instanceof GateError ? error.message : describeUnreachable(error);
  const { search = '' } = target === undefined ? {} : new URL(target.url);
  return endSentence(clipText(search === '' ? text : text.replaceAll(search, ''), longestDetail));
}
