import type { ModelSettings, SourceLocation, Suite, SuiteCase } from '../model/suite.ts';
import type { Finding } from './findings.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import type { WrittenCase, WrittenSuite } from './suite-schema.ts';

type WrittenSettings = Pick<WrittenSuite, 'system' | 'temperature' | 'maxSteps' | 'toolPolicy' | 'decoys'>;

/** Settings that the API has no field for, so that no hosted service keeps to them. */
const ownKeys = ['maxSteps', 'toolPolicy', 'decoys'] as const;

/** Layers what a case and its suite say about the model, key by key. */
export function buildModelSettings(
  suite: WrittenSettings,
  testCase: WrittenSettings,
  locateKey: (key: keyof WrittenSettings) => SourceLocation,
): ModelSettings {
  const written = { ...suite, ...testCase };
  const { system = null, temperature = null, maxSteps = null, toolPolicy = null, decoys = [] } = written;
  const ownKey = ownKeys.find((key) => written[key] !== undefined);
  const isFile = typeof decoys === 'string';
  return {
    system,
    temperature,
    maxSteps,
    toolPolicy,
    decoys: isFile ? [] : decoys,
    decoyFile: isFile ? { path: decoys, location: locateKey('decoys') } : null,
    ownSetting: ownKey === undefined ? null : { key: ownKey, location: locateKey(ownKey) },
  };
}

/** The models that a case runs with: its own, or else the suite's; null stands for none where no step needs one. */
export function listCaseModels(suite: WrittenSuite, testCase: WrittenCase): Array<string | null> {
  const hasPrompt = testCase.steps.some((step) => 'prompt' in step);
  if (!hasPrompt) return [testCase.model ?? null];
  const own = testCase.models ?? (testCase.model === undefined ? undefined : [testCase.model]);
  return own ?? suite.models ?? [suite.model ?? null];
}

/** The first prompt of a case; null where it has none. */
export function locatePrompt({ steps }: Pick<SuiteCase, 'steps'>): SourceLocation | null {
  return steps.find(({ step }) => step.kind === 'prompt')?.location ?? null;
}

/** Finds cases with a prompt and without a model. The gate runs none of them, unless a hosted service does it with a model of its own. */
export function findPromptsWithoutModel({ cases }: Suite): Finding[] {
  return cases.flatMap((testCase) => {
    const prompt = locatePrompt(testCase);
    if (prompt === null || testCase.model !== null) return [];
    const message = `case "${testCase.title}" has a prompt step and no model; set \`model\` in the case or the suite, such as anthropic/claude-haiku-4.5`;
    return [{ ...prompt, code: 'missing-model', message }];
  });
}

/** Finds a `model` next to `models`, which leaves open which of the two counts. */
export function findTwoModelKeys(
  written: Pick<WrittenSuite, 'model' | 'models'>,
  document: SourceDocument,
  path: DocumentPath,
): Finding[] {
  if (written.model === undefined || written.models === undefined) return [];
  const message = 'Both `model` and `models` are given; write one of them';
  return [{ ...document.locateKey([...path, 'models']), code: 'model-and-models', message }];
}
