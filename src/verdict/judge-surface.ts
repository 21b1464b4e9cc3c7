import { formatCount } from '../base/text.ts';
import { describeSource } from '../model/source.ts';
import type { SurfacePolicy } from '../model/surface-policy.ts';
import { type SurfaceReport, surfaceSeverities } from '../model/surface-report.ts';
import type { VerdictReason } from '../model/verdict.ts';

/** The meaning of the server's surface for the verdict. */
export interface SurfaceJudgement {
  /** The reasons why the verdict is not `passed`; empty if the surface is as the policy requires. */
  reasons: VerdictReason[];
  /** The findings that only warn, one sentence each. */
  warnings: string[];
}

/** The most changes that a reason names; the report lists all. */
const maxNamed = 5;

const what = {
  breaking: 'breaking change',
  review: 'change to review',
  additive: 'additive change',
  cosmetic: 'cosmetic change',
} as const;

/**
 * Judges the surface of the server by the policy. Pure: the same input always gives the same result. Its sentences name changes and findings
 * unless `isListed` says that the reader has a list of them.
 */
export function judgeSurface(
  surface: SurfaceReport,
  policy: SurfacePolicy,
  { isListed = false }: { isListed?: boolean } = {},
): SurfaceJudgement {
  const name = (items: ReadonlyArray<{ id: string }>) => (isListed ? '' : `: ${nameSome(items.map(({ id }) => id))}`);
  const reasons: VerdictReason[] = [];
  const warnings: string[] = [];
  if (surface.unread !== null) {
    const message = `The tool surface is not compared: ${surface.unread}`;
    return { reasons: [{ code: 'surface-unread', message }], warnings };
  }
  for (const severity of surfaceSeverities) {
    const { value, source } = policy[severity];
    const found = surface.configurations.flatMap(({ changes }) => changes.filter((each) => each.severity === severity));
    if (found.length === 0 || value === 'allow') continue;
    const words = what[severity];
    const count = `${found.length} ${found.length === 1 ? words : words.replace('change', 'changes')}`;
    const remedy = surface.against === 'base' ? '' : '; if they are meant, run `mcp-eval-ci surface --update`';
    const message = `The tool surface has ${count} against ${surface.against === 'base' ? 'the base' : surface.against}${name(found)} (surface.${severity}: ${value}, ${describeSource(source)})${remedy}.`;
    if (value === 'fail') reasons.push({ code: 'surface-changed', message });
    else warnings.push(message);
  }
  for (const { name, bytes } of surface.configurations) {
    if (policy.maximumBytes === null || bytes <= policy.maximumBytes.value) continue;
    const { value, source } = policy.maximumBytes;
    const subject = surface.configurations.length > 1 ? `The tools of ${name} take` : 'The tools take';
    const message = `${subject} ${bytes} bytes of the context of a model; surface.maximumBytes is ${value} (${describeSource(source)}).`;
    reasons.push({ code: 'surface-too-large', message });
  }
  const findings = surface.configurations.flatMap((each) => each.findings);
  const { value, source } = policy.findings;
  if (findings.length > 0 && value !== 'allow') {
    const message = `The tool surface has ${formatCount(findings.length, 'finding')}${name(findings)} (surface.findings: ${value}, ${describeSource(source)}).`;
    if (value === 'fail') reasons.push({ code: 'surface-changed', message });
    else warnings.push(message);
  }
  return { reasons, warnings };
}

function nameSome(names: readonly string[]): string {
  const rest = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
