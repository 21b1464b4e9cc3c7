import { z } from 'zod';

const text = z.string().exactOptional();
const flag = z.boolean().exactOptional();

const httpUrl = z.string().refine(isHttpUrl, 'Expected an http or https URL');

/** Everything but the OAuth settings is read here; those are kept, and a run of such a server is refused. */
const fields = {
  name: z.string().trim().min(1),
  enabled: z.boolean(),
  transportType: z.enum(['stdio', 'http']),
  command: text,
  args: z.array(z.string()).exactOptional(),
  env: z.record(z.string(), z.string()).exactOptional(),
  url: httpUrl.exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  hasBearerToken: flag,
  timeout: z.number().exactOptional(),
  clientCapabilities: z.record(z.string(), z.unknown()).exactOptional(),
  useOAuth: flag,
  oauthScopes: z.array(z.string()).exactOptional(),
  clientId: text,
  oauthResourceUrl: text,
  oauthProtocolMode: text,
  oauthProtocolVersion: text,
  oauthRegistrationStrategy: text,
  xaaAuthzIssuer: text,
  xaaAllowPathScopedIssuer: flag,
  oauthAllowPathScopedIssuer: flag,
  useXaa: flag,
  authServerMode: z.enum(['mcpjam', 'own']).exactOptional(),
  xaaSubject: text,
  xaaEmail: text,
  xaaIdentityAssertionFormat: text,
  xaaClientAuth: text,
  authMethod: text,
  registrationMode: text,
  clientSecret: text,
};

/** What a server record says. URL and headers may hold secrets: nothing here is ever logged. */
export const serverContentSchema = z.strictObject(fields);
export type ServerContent = z.infer<typeof serverContentSchema>;

export const serverCreateSchema = serverContentSchema.superRefine((server, context) => {
  const needed = server.transportType === 'http' ? 'url' : 'command';
  if (server[needed] === undefined) {
    context.addIssue({
      code: 'custom',
      path: [needed],
      message: `Required where transportType is ${server.transportType}`,
    });
  }
});

export const serverPatchSchema = z.strictObject({
  ...fields,
  name: fields.name.exactOptional(),
  enabled: fields.enabled.exactOptional(),
  transportType: fields.transportType.exactOptional(),
  clearClientSecret: flag,
  clearXaaConfig: flag,
});

/** Applies a write to a server record. */
export function patchServerContent(before: ServerContent, patch: z.infer<typeof serverPatchSchema>): ServerContent {
  const { clearClientSecret, clearXaaConfig, ...changes } = patch;
  const after: ServerContent = { ...before, ...changes };
  if (clearClientSecret === true) delete after.clientSecret;
  if (clearXaaConfig === true) {
    for (const key of xaaKeys) delete after[key];
  }
  return after;
}

const xaaKeys = [
  'useXaa',
  'xaaAuthzIssuer',
  'xaaAllowPathScopedIssuer',
  'xaaSubject',
  'xaaEmail',
  'xaaIdentityAssertionFormat',
  'xaaClientAuth',
] as const;

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
