import { parse } from 'yaml';

/** A fenced YAML block of a Markdown document, with the first line of its text. */
export interface YamlBlock {
  file: string;
  line: number;
  text: string;
}

/** The kind of example in a block, as far as its content shows it. */
export type BlockKind = 'workflow' | 'steps' | 'suite' | 'cases' | 'policy' | 'labels' | 'unknown';

/** Lists the blocks fenced as `yaml` or `yml`, without the indentation of the fence. */
export function listYamlBlocks(file: string, markdown: string): YamlBlock[] {
  const fences = markdown.matchAll(
    /^(?<indent> *)(?<fence>```+)ya?ml\b[^\n]*\n(?<text>[\s\S]*?)^\k<indent>\k<fence> *$/gm,
  );
  return [...fences].map((match) => {
    const { indent = '', text = '' } = match.groups ?? {};
    const line = markdown.slice(0, match.index).split('\n').length + 1;
    return { file, line, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') };
  });
}

export function judgeBlockKind(text: string): BlockKind {
  const value: unknown = parse(text);
  if (Array.isArray(value)) {
    if (value.every((item) => hasKey(item, 'uses') || hasKey(item, 'run'))) return 'steps';
    return value.every((item) => hasKey(item, 'title') && hasKey(item, 'steps')) ? 'cases' : 'unknown';
  }
  if (hasKey(value, 'jobs')) return 'workflow';
  if (hasKey(value, 'cases')) return 'suite';
  if (hasKey(value, 'examples')) return 'labels';
  return [
    'minimumPassRate',
    'retryFailed',
    'protect',
    'judges',
    'surface',
    'explore',
    'behaviour',
    'hosts',
    'minimumCoverage',
  ].some((key) => hasKey(value, key))
    ? 'policy'
    : 'unknown';
}

/** Makes a whole workflow from a list of steps. Adds the step `evals` if the steps use its outputs and it is missing. */
export function wrapSteps(text: string): string {
  const isStepMissing = text.includes('steps.evals.') && !/\bid: evals\b/.test(text);
  const steps = isStepMissing ? `- id: evals\n  uses: your-org/mcp-eval-ci@v1\n${text}` : text;
  const indented = steps.replaceAll(/^(?=.)/gm, '      ');
  return `on: pull_request\njobs:\n  evals:\n    runs-on: ubuntu-latest\n    steps:\n${indented}`;
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
