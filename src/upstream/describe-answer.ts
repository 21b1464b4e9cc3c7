import { describeBody, encodeBody, joinLines, splitLines } from './body.ts';
import type { UpstreamAnswer } from './exchange.ts';
import { type Hiding, hiddenMark, hideInJson, hideInText, hideNamed } from './hidden-values.ts';
import type { WrittenAnswer } from './recording.ts';

/**
 * Headers that belong to one connection, to the form of the body on the wire, or to the moment; a recording without them changes only
 * where the answer does.
 */
const droppedHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|date|age|via|server|alt-svc|strict-transport-security|nel|report-to|reporting-endpoints|expect-ct|server-timing|cf-.*|fly-.*|x-served-by|x-timer|x-cache.*|x-amz-cf-.*|x-amzn?-(?:trace|request)-?id|x-amz-id-2|x-request-id|request-id|x-github-request-id|x-runtime|x-powered-by|x-envoy-.*|content-security-policy(?:-report-only)?|permissions-policy)$/i;

/** Describes an answer as a recording holds it. */
export function describeAnswer({ status, headers, body }: UpstreamAnswer, hiding: Hiding): WrittenAnswer {
  const named = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (droppedHeaders.test(key)) continue;
    const hidden = key === 'set-cookie' ? hideCookie(value, hiding) : hideNamed(key, value, hiding);
    named.set(key, [...(named.get(key) ?? []), hidden]);
  }
  const written = [...named].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values] as const);
  const type = named.get('content-type')?.[0] ?? '';
  const described = hideBody(describeBody(body, type), hiding);
  return {
    status,
    ...(written.length > 0 && { headers: Object.fromEntries(written) }),
    ...(described !== null && { body: described }),
  };
}

/** Returns the answer that a recording describes, with the values that variables have now. */
export function showAnswer({ status, headers = {}, body }: WrittenAnswer, hiding: Hiding): UpstreamAnswer {
  const shown = body === undefined || 'base64' in body ? body : showBody(body, hiding);
  return {
    status,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((each) => [name, hiding.show(each)] as const),
    ),
    body: encodeBody(shown ?? null),
  };
}

type TextBody = Exclude<NonNullable<WrittenAnswer['body']>, { base64: string }>;

function showBody(body: TextBody, hiding: Hiding): TextBody {
  if ('text' in body) return { text: hiding.show(joinLines(body.text)) };
  const show = (value: unknown): unknown => {
    if (typeof value === 'string') return hiding.show(value);
    if (Array.isArray(value)) return value.map(show);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, show(member)]));
  };
  return { json: show(body.json) };
}

/** Keeps the name and the attributes of a cookie. */
function hideCookie(text: string, hiding: Hiding): string {
  const [pair = '', ...attributes] = text.split(';');
  return hiding.hide([`${pair.split('=', 1)[0] ?? ''}=${hiddenMark}`, ...attributes].join(';'));
}

function hideBody(body: ReturnType<typeof describeBody>, hiding: Hiding): ReturnType<typeof describeBody> {
  if (body === null || 'base64' in body) return body;
  return 'json' in body
    ? { json: hideInJson(body.json, hiding) }
    : { text: splitLines(hideInText(joinLines(body.text), hiding)) };
}
