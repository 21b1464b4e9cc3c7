import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { listProxySecrets, readProxySettings } from '../../http/proxy.ts';
import type { Secret } from '../../base/redaction.ts';
import { appendAll } from '../../base/lists.ts';
import { type CollectorAddress, parseCollectorUrl } from '../../otlp/collector.ts';
import { readOtelTarget } from './otel-variables.ts';

/** The OpenTelemetry collector that the traces are sent to. */
export interface PlannedCollector extends CollectorAddress {
  secrets: readonly Secret[];
}

/** Settles where the traces are sent; null for nowhere. What is wrong goes to `issues`. */
export function planCollector(
  environment: Readonly<Record<string, string | undefined>>,
  { notes, issues }: { notes: string[]; issues: ConfigurationIssue[] },
): PlannedCollector | null {
  const target = readOtelTarget(environment, { notes, issues });
  if (target === null) return null;
  const { headers } = target;
  try {
    const url = parseCollectorUrl(target);
    const proxy = readProxySettings(environment);
    return { url, headers, proxy, secrets: [...headers.values(), ...listProxySecrets(proxy)] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    appendAll(issues, error.issues);
    return null;
  }
}
