import { z } from 'zod';
import { listHtmlLoads } from './html-loads.ts';
import { printValue } from './reasons.ts';

/** What MCP Apps requires (2026-01-26, "Content Requirements"). */
const mimeType = 'text/html;profile=mcp-app';

/** Of the HTML: hosts load it for every result of a tool. */
const maxBytes = 5 * 1024 * 1024;

const domains = z.array(z.string()).exactOptional();
const policySchema = z.object({
  connectDomains: domains,
  resourceDomains: domains,
  frameDomains: domains,
  baseUriDomains: domains,
});
type Policy = z.infer<typeof policySchema>;

const readSchema = z.object({
  contents: z.array(
    z.looseObject({
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
      blob: z.string().optional(),
      _meta: z.looseObject({ ui: z.looseObject({ csp: z.unknown() }).optional() }).optional(),
    }),
  ),
});

/** A host, `*.` before it or a port after it included, with or without a scheme that loads anything. */
const source = /^(?:(?:https?|wss?):\/\/)?(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;

/** Finds what is wrong with the resource of an app as the server returned it; each problem is half a sentence. */
export function findAppProblems(uri: string, result: unknown): string[] {
  if (!uri.startsWith('ui://')) return ['its URI does not begin with ui://'];
  const read = readSchema.safeParse(result).data;
  const content = read?.contents.find((item) => item.uri === uri) ?? read?.contents[0];
  if (content === undefined) return ['the server returned no contents for it'];
  const html =
    content.text ?? (content.blob === undefined ? null : Buffer.from(content.blob, 'base64').toString('utf8'));
  const policy = policySchema.safeParse(content._meta?.ui?.csp ?? {});
  return [
    ...(content.mimeType === mimeType
      ? []
      : [`its MIME type is ${printValue(content.mimeType ?? null)}, expected "${mimeType}"`]),
    ...(policy.success ? findPolicyProblems(policy.data) : ['its `_meta.ui.csp` is not an object of lists of origins']),
    ...(html === null ? ['it has neither text nor a blob'] : findHtmlProblems(html, policy.data ?? {})),
  ];
}

function findPolicyProblems(policy: Policy): string[] {
  return Object.entries(policy).flatMap(([list, origins]) =>
    origins.flatMap((origin) => {
      if (/^(?:[a-z]+:(?:\/\/)?)?\*?$/i.test(origin)) return [`${list} allows every origin with ${printValue(origin)}`];
      return source.test(origin) ? [] : [`${list} has ${printValue(origin)}, which is no origin`];
    }),
  );
}

function findHtmlProblems(html: string, policy: Policy): string[] {
  const bytes = Buffer.byteLength(html);
  if (bytes > maxBytes) return [`it has ${bytes} bytes; the limit is ${maxBytes}`];
  const start = html.slice(0, 1000).replace(/^\uFEFF?\s*(?:<!--[^>]*-->\s*)?/, '');
  if (!/^<(?:!doctype\s+html|html)\b/i.test(start))
    return ['it is no HTML document: it begins with neither <!doctype html> nor <html>'];
  const undeclared = listHtmlLoads(html).filter(({ url, allowedBy }) => {
    return !(policy[allowedBy] ?? []).some((origin) => covers(origin, url));
  });
  return [
    ...new Set(
      undeclared.map(({ url, allowedBy }) => `it loads ${printValue(url)}, whose origin is not in ${allowedBy}`),
    ),
  ];
}

/** Whether a source of a policy allows a URL: by host, and by scheme and port where the source has them. */
function covers(origin: string, url: string): boolean {
  const target = URL.parse(url.startsWith('//') ? `https:${url}` : url);
  const [, scheme, wildcard, host, port] =
    /^(?:([a-z]+):\/\/)?(\*\.)?([^:]+)(?::(\d+))?$/i.exec(origin.toLowerCase()) ?? [];
  if (target === null || host === undefined) return false;
  const isHost = wildcard === undefined ? target.hostname === host : target.hostname.endsWith(`.${host}`);
  // A policy for http allows https as well.
  const isScheme = scheme === undefined || target.protocol.startsWith(scheme);
  const actualPort = target.port === '' ? (target.protocol.endsWith('s:') ? '443' : '80') : target.port;
  return isHost && isScheme && (port === undefined ? target.port === '' : port === actualPort);
}
