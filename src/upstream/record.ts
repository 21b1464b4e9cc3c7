import { describeError } from '../base/errors.ts';
import { createRedactor, type Redactor, Secret } from '../base/redaction.ts';
import { describeAnswer } from './describe-answer.ts';
import { describeRequest, keyRequest, type MatchSettings } from './describe-request.ts';
import { refuseRequest, type UpstreamAnswer, type UpstreamRequest, type UpstreamSession } from './exchange.ts';
import { createHiding, type HiddenValue, listSecretsIn } from './hidden-values.ts';
import type { RecordedSession, WrittenExchange } from './recording.ts';
import { nameRequest } from './replay.ts';

/** The recording of one iteration. */
export interface RecordSession extends UpstreamSession {
  /** Returns what was recorded so far, without secrets. */
  finish(): RecordedExchanges;
}

interface RecordedExchanges {
  exchanges: WrittenExchange[];
  /** What could not be recorded, one sentence each. */
  problems: string[];
}

interface RecordOptions {
  settings: MatchSettings;
  hidden: readonly HiddenValue[];
  /** Further names of members, parameters and headers that hold secrets. */
  names: readonly string[];
  redactor: Redactor;
  /** Sends a request to the API. */
  forward: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
}

/** A shorter text may be found by chance in a text that has nothing to do with it. */
const shortestSecret = 8;

/** Passes requests on to the API and records the answers. */
export function openRecord({ settings, hidden, names, redactor, forward }: RecordOptions): RecordSession {
  const exchanges: Array<{ request: UpstreamRequest; answer: UpstreamAnswer | null }> = [];
  const problems: string[] = [];
  const hiding = createHiding(hidden, { names, redactor });
  return {
    answer: async (request) => {
      // In the order in which requests arrive, whatever the order of their answers.
      const exchange: (typeof exchanges)[number] = { request, answer: null };
      exchanges.push(exchange);
      try {
        exchange.answer = await forward(request);
        return exchange.answer;
      } catch (error) {
        const asked = nameRequest(describeRequest(request, settings, hiding));
        const why = `${asked} has no answer: ${redactor.redact(describeCause(error))}`;
        problems.push(`${why}.`);
        return refuseRequest(why, 502);
      }
    },
    refuse: (what) => void problems.push(`${what}.`),
    finish: () => {
      // Values that were secrets in one request are secrets wherever they occur.
      const seen = createRedactor(
        exchanges
          .flatMap(({ request, answer }) => listCredentials(request, answer, { names, redactor }))
          .filter((secret) => secret.length >= shortestSecret)
          .map((secret) => new Secret(secret)),
      );
      const both: Redactor = {
        add: (secret) => redactor.add(secret),
        redact: (text) => redactor.redact(seen.redact(text)),
      };
      const clean = createHiding(hidden, { names, redactor: both });
      const written = exchanges.flatMap(({ request, answer }) =>
        answer === null
          ? []
          : [{ request: describeRequest(request, settings, clean), response: describeAnswer(answer, clean) }],
      );
      return { exchanges: written, problems: [...new Set(problems)] };
    },
  };
}

function describeCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return describeError(cause);
}

/** Lists the credentials in an exchange: authorization, cookies, and values with the name of a secret. */
function listCredentials(
  { headers, url, body }: UpstreamRequest,
  answer: UpstreamAnswer | null,
  { names, redactor }: Pick<RecordOptions, 'names' | 'redactor'>,
): string[] {
  const hiding = createHiding([], { names, redactor });
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) => {
    if (name === 'authorization' || name === 'proxy-authorization') return listAuthorization(value);
    if (name === 'cookie') return value.split(';').map(readPairValue);
    return hiding.isSecret(name, value) ? [value] : [];
  });
  const ofQuery = [...url.searchParams].flatMap(([name, value]) => (hiding.isSecret(name, value) ? [value] : []));
  const cookies = answer?.headers.flatMap(([name, value]) =>
    name.toLowerCase() === 'set-cookie' ? [readPairValue(value.split(';', 1)[0] ?? '')] : [],
  );
  const bodies = [body, answer?.body ?? Buffer.alloc(0)].flatMap((bytes) => listSecretsIn(parse(bytes), hiding));
  return [...ofHeaders, ...ofQuery, ...(cookies ?? []), ...bodies];
}

/** A scheme and its credentials, RFC 9110 §11.4. `Basic` has a name and a password in Base64. */
function listAuthorization(value: string): string[] {
  const [scheme = '', ...rest] = value.split(' ');
  const credentials = rest.join(' ');
  if (scheme.toLowerCase() !== 'basic') return [credentials === '' ? scheme : credentials];
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  return [credentials, text.slice(text.indexOf(':') + 1)];
}

function readPairValue(pair: string): string {
  return pair.slice(pair.indexOf('=') + 1).trim();
}

function parse(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Joins the recordings of several iterations of a case: the first one, and each other one that sends other requests. Requests that are the
 * same need no second recording, whatever their answers.
 */
export function joinSessions(sessions: readonly RecordedSession[]): RecordedSession[] {
  const ordered = sessions.toSorted((a, b) => a.iteration - b.iteration);
  const [first] = ordered;
  if (first === undefined) return [];
  const list = ({ exchanges }: RecordedSession) =>
    exchanges
      .map(({ request }) => keyRequest(request))
      .toSorted()
      .join('\n');
  return [first, ...ordered.slice(1).filter((session) => list(session) !== list(first))];
}
