import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import type { ModelCall, ModelSession } from '../../../src/models/language-model.ts';
import {
  createProviderSource,
  type ProviderSource,
  type ProviderSourceOptions,
} from '../../../src/models/provider-source.ts';
import { readProviders } from '../../../src/models/providers.ts';
import { VirtualClock } from '../clocks/virtual-clock.ts';
import type { ProviderFormat } from './scripted-provider.ts';

export const testProviderKey = 'sk-canary-4f9a1c7be20d8356';

/** A model for each wire format. */
export const testModels = {
  anthropic: { provider: 'anthropic', name: 'claude-haiku-4-5' },
  compatible: { provider: 'openai', name: 'gpt-5-mini' },
  responses: { provider: 'openai', name: 'gpt-5-mini' },
} as const;

export interface TestSource extends ProviderSource {
  clock: VirtualClock;
  /** Opens a session with the provider's model, for the first iteration of a case. */
  openTestSession(): Promise<ModelSession>;
}

/** Opens the models of a test provider, with virtual waits and almost no jitter. */
export function openTestSource(
  { format, baseUrl }: { format: ProviderFormat; baseUrl: string },
  options: Partial<ProviderSourceOptions> = {},
): TestSource {
  const clock = new VirtualClock();
  const prefix = format === 'anthropic' ? 'ANTHROPIC' : 'OPENAI';
  const environment = { [`${prefix}_API_KEY`]: testProviderKey, [`${prefix}_BASE_URL`]: baseUrl };
  const source = createProviderSource({
    providers: readProviders({ environment }),
    clock,
    random: () => 0.5,
    logger: silentLogger,
    redactor: createRedactor(),
    ...options,
  });
  return {
    ...source,
    clock,
    openTestSession: () =>
      source.openSession({ model: testModels[format], caseId: 'case_1', iterationNumber: 1, apiKeys: new Map() }),
  };
}

/** Builds a call with one text, and without tools by default. */
export function buildCall(text: string, call: Partial<ModelCall> = {}): ModelCall {
  return { prompt: [{ role: 'user', content: [{ type: 'text', text }] }], tools: [], ...call };
}

/** A signal that never aborts. */
export const openEnd = { signal: new AbortController().signal };
