import { type ConfigurationIssue, describeError } from '../base/errors.ts';
import type { PolicyFile } from '../model/policy.ts';
import { buildGateRules, buildPolicyLayer, locateText } from './build-policy.ts';
import { explainIssues } from './explain-issues.ts';
import { type Finding, sortFindings } from './findings.ts';
import { type PolicyInput, policyFileSchema } from './policy-schema.ts';
import { type DocumentPath, parseSource, type SourceDocument } from './source-document.ts';

export interface PolicyReading {
  /** Null exactly when there are findings. */
  policy: PolicyFile | null;
  findings: Finding[];
}

/**
 * Reads a policy file, YAML or JSON, and reports all of its mistakes at once. Never throws, whatever the text. Findings and sources of
 * requirements call the file `file`.
 */
export function readPolicy(text: string, { file }: { file: string }): PolicyReading {
  const { document, findings } = parseSource(text, file);
  if (document === null) {
    const located = findings.map((finding) =>
      finding.code === 'empty-file'
        ? { ...finding, message: 'The file is empty; write a policy or leave it out' }
        : finding,
    );
    return { policy: null, findings: sortFindings(located) };
  }
  const { policy, findings: more } = readDocument(document, file);
  const all = sortFindings([...findings, ...more]);
  return { policy: all.length > 0 ? null : policy, findings: all };
}

/** Reads a policy that a program passes as an object. Sources and issues name the key: `policy.flaky`. */
export function readPolicyInput(input: PolicyInput): { policy: PolicyFile | null; issues: ConfigurationIssue[] } {
  let value: unknown;
  try {
    // Drops values that JSON cannot hold, as a file written by the program would.
    value = JSON.parse(JSON.stringify(input));
  } catch (error) {
    const message = `cannot be written as JSON: ${describeError(error)}`;
    return { policy: null, issues: [{ input: inlinePolicy, code: 'bad-policy', message }] };
  }
  const locate = (path: DocumentPath) => ({ file: [inlinePolicy, ...path].join('.'), line: 0, column: 0 });
  const { policy, findings } = readDocument(
    { value, locateKey: locate, locateValue: locate, readText: () => '' },
    inlinePolicy,
  );
  const issues = findings.map(({ file: place, code, message }) => ({ input: place, code, message }));
  return { policy, issues };
}

/** The name in messages of a policy that is not in a file. */
const inlinePolicy = 'policy';

function readDocument(document: SourceDocument, file: string): PolicyReading {
  const parsed = policyFileSchema.safeParse(document.value);
  if (!parsed.success) {
    return { policy: null, findings: explainIssues(policyFileSchema, document, parsed.error.issues) };
  }
  const { $schema: _schema, quarantine = [], suites = {}, protect = null, ...common } = parsed.data;
  return {
    policy: {
      file,
      gate: buildGateRules(common, document),
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
