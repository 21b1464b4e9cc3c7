import { isRecord } from '../../base/json.ts';
import { geminiCli } from '../../hosts/profiles/gemini-cli.ts';
import { defineAdapter } from '../define-adapter.ts';
import type { HostOutput, ProviderRequest, RequestKind } from '../driver.ts';
import { startGeminiFamily } from '../gemini-family.ts';
import { describeDenial, describeError, readJsonLines } from '../output.ts';
import { classifyByTools } from '../requests.ts';
import { googleGenerateContent } from '../wires/google-generate-content.ts';

/** Gemini CLI, as 0.61.0 was measured. */
export const geminiCliAdapter = defineAdapter({
  profile: geminiCli,
  program: 'gemini',
  wire: googleGenerateContent,
  start: (place) => ({
    ...startGeminiFamily(place, { folder: '.gemini', auth: 'gemini-api-key' }),
    env: {
      GEMINI_API_KEY: place.provider.token,
      GOOGLE_GEMINI_BASE_URL: place.provider.url,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
  }),
  readOutput,
  classify,
});

/** The host counts tokens, too. */
function classify(request: ProviderRequest): RequestKind {
  if (!/:countTokens(?:\?|$)/.test(request.path)) return classifyByTools(request, googleGenerateContent);
  const body = JSON.stringify({ totalTokens: 1000 });
  return { kind: 'side', answer: { status: 200, contentType: 'application/json', body } };
}

/** A call that is not approved is not in the output: the host then shows the model no tool of a server at all. */
function readOutput({ stdout }: { stdout: string }): HostOutput {
  const lines = readJsonLines(stdout);
  const names = new Map(
    lines.filter(({ type }) => type === 'tool_use').map(({ tool_id: id, tool_name: name }) => [id, name]),
  );
  const lastCall = lines.findLastIndex(({ type }) => type === 'tool_result');
  const said = lines
    .slice(lastCall + 1)
    .flatMap(({ type, role, content }) => (type === 'message' && role === 'assistant' ? [String(content)] : []));
  const refused = lines.filter(({ error }) => isRecord(error) && error['type'] === 'policy_violation');
  const failed = lines.flatMap(({ type, severity, status, message, error }) => {
    if (type === 'error' && severity === 'error') return [message];
    return type === 'result' && status === 'error' ? [isRecord(error) ? error['message'] : 'The run failed.'] : [];
  });
  return {
    text: said.length === 0 ? null : said.join(''),
    denials: refused.map(({ tool_id: id }) => describeDenial(names.get(id))),
    errors: failed.map(describeError),
  };
}
