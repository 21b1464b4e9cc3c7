import type { PolicyFile } from '../model/policy.ts';
import { buildPolicyLayer, locateText } from './build-policy.ts';
import { explainIssues } from './explain-issues.ts';
import { type Finding, sortFindings } from './findings.ts';
import { policyFileSchema } from './policy-schema.ts';
import { parseSource } from './source-document.ts';

export interface PolicyReading {
  /** Null exactly when there are findings. */
  policy: PolicyFile | null;
  findings: Finding[];
}

/**
 * Reads a policy file, YAML or JSON, and reports all that is wrong with it at once. Never throws, whatever the text.
 * `file` is what findings and the sources of demands call it.
 */
export function readPolicy(text: string, { file }: { file: string }): PolicyReading {
  const { document, findings } = parseSource(text, file);
  if (document === null) {
    const told = findings.map((finding) =>
      finding.code === 'empty-file'
        ? { ...finding, message: 'The file is empty; write a policy or leave it out' }
        : finding,
    );
    return { policy: null, findings: sortFindings(told) };
  }
  const parsed = policyFileSchema.safeParse(document.value);
  const all = sortFindings([
    ...findings,
    ...(parsed.success ? [] : explainIssues(policyFileSchema, document, parsed.error.issues)),
  ]);
  if (!parsed.success || all.length > 0) return { policy: null, findings: all };
  const { $schema: _schema, quarantine = [], suites = {}, protect = null, ...common } = parsed.data;
  return {
    policy: {
      file,
      common: buildPolicyLayer(common, document, []),
      quarantine: quarantine.map((entry, index) => ({
        ...entry,
        source: locateText(document, ['quarantine', index], 'locateValue'),
      })),
      suites: Object.entries(suites).map(([name, written]) => ({
        name,
        layer: buildPolicyLayer(written, document, ['suites', name]),
      })),
      protect,
    },
    findings: [],
  };
}
