import { z } from 'zod';
import { type AppPolicy, appPolicySchema, coversUrl, isOrigin } from '../model/app-policy.ts';
import { listHtmlLoads } from './html-loads.ts';
import { printValue } from './reasons.ts';

/** The MIME type that MCP Apps requires (2026-01-26, "Content Requirements"). */
const mimeType = 'text/html;profile=mcp-app';

/** Limits the HTML, because hosts load it for every result of a tool. */
const maxBytes = 5 * 1024 * 1024;

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

/** Lists the problems of an app's resource as the server returned it; each problem is a clause. */
export function findAppProblems(uri: string, result: unknown): string[] {
  const app = readApp(uri, result);
  if ('none' in app) return [app.none];
  const { problems, html, policy } = app;
  return [
    ...problems,
    ...findPolicyProblems(policy ?? {}),
    ...(html === null ? [] : findHtmlProblems(html, policy ?? {})),
  ];
}

/** An app as a host shows it. */
export interface App {
  html: string;
  /** Null if the app declares none. */
  policy: AppPolicy | null;
}

/** Reads the resource of an app for a host. `problem` is a clause that says why no host shows it. */
export function readShownApp(uri: string, result: unknown): App | { problem: string } {
  const app = readApp(uri, result);
  if ('none' in app) return { problem: app.none };
  const { html, policy } = app;
  const [problem] = app.problems;
  if (html === null || problem !== undefined) return { problem: problem ?? 'it is empty' };
  const size = findSizeProblem(html);
  return size === null ? { html, policy } : { problem: size };
}

function readApp(
  uri: string,
  result: unknown,
): { problems: string[]; html: string | null; policy: AppPolicy | null } | { none: string } {
  if (!uri.startsWith('ui://')) return { none: 'its URI does not begin with ui://' };
  const read = readSchema.safeParse(result).data;
  const content = read?.contents.find((item) => item.uri === uri) ?? read?.contents[0];
  if (content === undefined) return { none: 'the server returned no contents for it' };
  const html =
    content.text ?? (content.blob === undefined ? null : Buffer.from(content.blob, 'base64').toString('utf8'));
  const declared = content._meta?.ui?.csp ?? null;
  const policy = appPolicySchema.safeParse(declared ?? {});
  const problems = [
    ...(content.mimeType === mimeType
      ? []
      : [`its MIME type is ${printValue(content.mimeType ?? null)}, expected "${mimeType}"`]),
    ...(policy.success ? [] : ['its `_meta.ui.csp` is not an object of lists of origins']),
    ...(html === null ? ['it has neither text nor a blob'] : []),
  ];
  return { problems, html, policy: declared === null ? null : (policy.data ?? null) };
}

function findPolicyProblems(policy: AppPolicy): string[] {
  return Object.entries(policy).flatMap(([list, origins]) =>
    origins.flatMap((origin) => {
      if (/^(?:[a-z]+:(?:\/\/)?)?\*?$/i.test(origin)) return [`${list} allows every origin with ${printValue(origin)}`];
      return isOrigin(origin) ? [] : [`${list} has ${printValue(origin)}, which is no origin`];
    }),
  );
}

function findSizeProblem(html: string): string | null {
  const bytes = Buffer.byteLength(html);
  return bytes > maxBytes ? `it has ${bytes} bytes; the limit is ${maxBytes}` : null;
}

function findHtmlProblems(html: string, policy: AppPolicy): string[] {
  const size = findSizeProblem(html);
  if (size !== null) return [size];
  const start = html.slice(0, 1000).replace(/^\uFEFF?\s*(?:<!--[^>]*-->\s*)?/, '');
  if (!/^<(?:!doctype\s+html|html)\b/i.test(start))
    return ['it is no HTML document: it begins with neither <!doctype html> nor <html>'];
  const undeclared = listHtmlLoads(html).filter(({ url, allowedBy }) => {
    return !(policy[allowedBy] ?? []).some((origin) => coversUrl(origin, url));
  });
  return [
    ...new Set(
      undeclared.map(({ url, allowedBy }) => `it loads ${printValue(url)}, whose origin is not in ${allowedBy}`),
    ),
  ];
}
