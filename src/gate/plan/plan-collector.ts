import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { listProxySecrets, readProxySettings } from '../../base/proxy.ts';
import type { Secret } from '../../base/redaction.ts';
import { appendAll } from '../../base/lists.ts';
import { type CollectorAddress, parseCollectorUrl } from '../../service/collector.ts';
import type { GateOptions } from '../options/schema.ts';

/** The OpenTelemetry collector that the traces are sent to. */
export interface PlannedCollector extends CollectorAddress {
  secrets: readonly Secret[];
}

/** Settles where the traces are sent. What is wrong goes to `issues`. */
export function planCollector(
  { otlpEndpoint, otlpHeaders }: Pick<GateOptions, 'otlpEndpoint' | 'otlpHeaders'>,
  { environment }: { environment: Readonly<Record<string, string | undefined>> },
  issues: ConfigurationIssue[],
): PlannedCollector | null {
  if (otlpEndpoint === null) {
    const message = 'has no effect without `otlp-endpoint`; say where the traces are to be sent';
    issues.push({ input: 'otlp-headers', code: 'needs-otlp-endpoint', message });
    return null;
  }
  try {
    const url = parseCollectorUrl(otlpEndpoint, otlpHeaders);
    const proxy = readProxySettings(environment);
    return { url, headers: otlpHeaders, proxy, secrets: [...otlpHeaders.values(), ...listProxySecrets(proxy)] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    appendAll(issues, error.issues);
    return null;
  }
}
