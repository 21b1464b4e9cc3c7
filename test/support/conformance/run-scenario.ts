import { createPrivateKey } from 'node:crypto';
import {
  auth,
  CrossAppAccessProvider,
  discoverOAuthProtectedResourceMetadata,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Secret } from '../../../src/base/redaction.ts';
import { systemClock } from '../../../src/base/time.ts';
import type { ClientAbilities } from '../../../src/mcp/abilities.ts';
import { type AccessToken, type Challenge, createServerAccess } from '../../../src/mcp/access.ts';
import { createAuthFetch, openTokenRequest, type OAuthClient } from '../../../src/mcp/client-credentials.ts';
import { openSession } from '../../../src/mcp/session.ts';

export const scenarioSchema = z.object({
  scenario: z.string(),
  context: z.string().transform((text): unknown => JSON.parse(text)),
  serverUrl: z.string(),
});

/** The context of a scenario, with the fields that differ between scenarios. */
const contextSchema = z
  .object({
    client_id: z.string(),
    client_secret: z.string(),
    private_key_pem: z.string(),
    idp_id_token: z.string(),
    idp_token_endpoint: z.string(),
    idp_client_id: z.string(),
  })
  .partial();

type Context = z.infer<typeof contextSchema>;
type CodeProvider = OAuthClientProvider & { code?: string; acceptsAnyIssuer?: boolean };
type RequestToken = (challenge: Challenge) => Promise<AccessToken>;

const fetchFn = createAuthFetch(systemClock);

/** Accepts every form unchanged, so that the server gets the defaults of its fields. */
const abilities: ClientAbilities = { elicitation: async () => ({ action: 'accept', content: {} }) };

/** Runs one scenario with the product's session: its handshake, the list of tools, and a call of each tool. */
export async function runScenario({ scenario, context, serverUrl }: z.infer<typeof scenarioSchema>): Promise<void> {
  const signal = AbortSignal.timeout(25_000);
  const given = contextSchema.parse(context);
  const requestToken = scenario.startsWith('auth/') ? await chooseGrant(scenario, given, serverUrl) : null;
  const access = createServerAccess({ url: serverUrl, headers: new Map(), requestToken, clock: systemClock });
  const target = { url: serverUrl, serverName: 'conformance', protocol: 'legacy' as const, access };
  await using session = await openSession(target, { clock: systemClock, signal, abilities });
  const tools = await session.listTools({ signal });
  for (const name of tools?.keys() ?? []) await session.callTool(name, { a: 5, b: 3 }, { signal });
}

/** Uses the product's own client credentials. Other grants replace steps that a job cannot do, such as logging in. */
async function chooseGrant(scenario: string, context: Context, serverUrl: string): Promise<RequestToken> {
  if (scenario.startsWith('auth/client-credentials-')) return await useClientCredentials(context, serverUrl);
  if (scenario.startsWith('auth/cross-app-access')) return await useCrossAppAccess(context, serverUrl);
  return useAuthorizationCode(scenario, context, serverUrl);
}

async function useClientCredentials(context: Context, serverUrl: string): Promise<RequestToken> {
  const issuer = await readIssuer(serverUrl);
  const { private_key_pem: pem, client_secret: secret = '', client_id: clientId = '' } = context;
  const credential = pem === undefined ? new Secret(secret) : createPrivateKey(pem);
  const client: OAuthClient = { clientId, issuer, tokenOrigin: null, scope: null, credential };
  return await openTokenRequest(client, { serverUrl, proxy: undefined, clock: systemClock, onSecret: () => {} });
}

async function useCrossAppAccess(context: Context, serverUrl: string): Promise<RequestToken> {
  const provider = new CrossAppAccessProvider({
    clientId: context.client_id ?? '',
    clientSecret: context.client_secret ?? '',
    expectedIssuer: await readIssuer(serverUrl),
    fetchFn,
    assertion: async ({ authorizationServerUrl: audience, resourceUrl: resource, scope }) => {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint: context.idp_token_endpoint ?? '',
        idToken: context.idp_id_token ?? '',
        clientId: context.idp_client_id ?? '',
        audience,
        resource,
        fetchFn,
        ...(scope !== undefined && { scope }),
      });
      return jwtAuthGrant;
    },
  });
  return async (challenge) => await authorize(provider, serverUrl, challenge);
}

async function readIssuer(serverUrl: string): Promise<string> {
  const { authorization_servers: [issuer = ''] = [] } = await discoverOAuthProtectedResourceMetadata(serverUrl);
  return issuer;
}

/** Logs in like a browser that is redirected back at once. */
function useAuthorizationCode(scenario: string, context: Context, serverUrl: string): RequestToken {
  const provider = createCodeProvider(context);
  provider.acceptsAnyIssuer = scenario === 'auth/2025-03-26-oauth-metadata-backcompat';
  return async (challenge) => await authorize(provider, serverUrl, challenge);
}

async function authorize(
  provider: CodeProvider,
  serverUrl: string,
  { resourceMetadataUrl, scope }: Challenge,
): Promise<AccessToken> {
  const options = {
    serverUrl,
    fetchFn,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
    // The server of this scenario violates RFC 8414 §3.3, which the SDK would enforce.
    skipIssuerMetadataValidation: provider.acceptsAnyIssuer ?? false,
  };
  if ((await auth(provider, { ...options, forceReauthorization: true })) === 'REDIRECT') {
    await auth(provider, { ...options, authorizationCode: provider.code ?? '' });
  }
  const tokens = await provider.tokens();
  return { value: tokens?.access_token ?? '', scope: tokens?.scope ?? null, expiresAtMs: null };
}

function createCodeProvider({ client_id, client_secret }: Context): CodeProvider {
  let client: OAuthClientInformationMixed | undefined =
    client_id === undefined ? undefined : { client_id, ...(client_secret !== undefined && { client_secret }) };
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let discovery: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
  const provider: CodeProvider = {
    redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    clientMetadata: {
      client_name: 'mcp-eval-ci',
      redirect_uris: ['http://127.0.0.1:9/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    clientInformation: () => client,
    saveClientInformation: (information) => {
      client = information;
    },
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    codeVerifier: () => verifier,
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    discoveryState: () => discovery,
    saveDiscoveryState: (state) => {
      discovery = state;
    },
    redirectToAuthorization: async (url) => {
      const response = await fetchFn(url, {});
      const code = new URL(response.headers.get('location') ?? '').searchParams.get('code');
      if (code !== null) provider.code = code;
    },
  };
  return provider;
}
