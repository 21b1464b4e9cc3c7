import { type GateRules, gateLayers, type PolicyLayer, suiteLayers } from '../model/policy.ts';
import type { Locate } from '../model/rules/define-rule.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/** Turns the policy written at `path` of a document into a layer. Each requirement of it names its location. */
export function buildPolicyLayer(written: object, document: SourceDocument, path: DocumentPath): PolicyLayer {
  return suiteLayers.build(written, locateRules(document, path));
}

/** Turns the gate rules of a policy file into rules that name their location. */
export function buildGateRules(written: object, document: SourceDocument): GateRules {
  return gateLayers.build(written, locateRules(document, []));
}

function locateRules(document: SourceDocument, path: DocumentPath): Locate {
  return (inner, part) => locateText(document, [...path, ...inner], part === 'key' ? 'locateKey' : 'locateValue');
}

/** Formats a location as messages name it: `evals/x.evals.yaml:4`, or `policy.flaky` for a policy that a program passes. */
export function locateText(
  document: SourceDocument,
  path: DocumentPath,
  method: 'locateKey' | 'locateValue' = 'locateKey',
): string {
  const { file, line } = document[method](path);
  return line === 0 ? file : `${file}:${line}`;
}
