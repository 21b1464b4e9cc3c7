import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import { Secret } from '../../base/redaction.ts';
import { listProxySecrets, readProxySettings } from '../../http/proxy.ts';
import { type CollectorAddress, parseCollectorUrl } from '../../otlp/collector.ts';
import type { GateOptions } from '../options/schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where traces are sent, as OpenTelemetry's variables say it. */
interface OtelTarget {
  endpoint: string;
  /** The variable that names it. */
  variable: string;
  /** Whether it is the whole URL; else `/v1/traces` belongs behind it. */
  isWhole: boolean;
  headers: ReadonlyMap<string, Secret>;
}

/** From the strongest to the weakest. "Endpoint URLs for OTLP/HTTP", OpenTelemetry Protocol Exporter. */
const endpointVariables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const protocolVariables = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;
/** From the weakest to the strongest: a header of the second replaces one of the first. */
const headerVariables = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'] as const;

/**
 * Reads where traces are sent. Null where the variables name no endpoint or turn traces off. Why the gate cannot send them is a note, since
 * the variables may be meant for another program of the job; a header that cannot be read is an issue.
 */
export function readOtelTarget(
  environment: Environment,
  { notes, issues }: { notes: string[]; issues: ConfigurationIssue[] },
): OtelTarget | null {
  const variable = endpointVariables.find((name) => read(environment, name) !== '');
  const exporters = read(environment, 'OTEL_TRACES_EXPORTER');
  const isOff =
    /^true$/i.test(read(environment, 'OTEL_SDK_DISABLED')) ||
    (exporters !== '' && !exporters.split(',').some((name) => name.trim() === 'otlp'));
  if (variable === undefined || isOff) return null;
  const protocol = protocolVariables.find((name) => read(environment, name) !== '');
  if (protocol !== undefined && read(environment, protocol) === 'grpc') {
    notes.push(`The traces are not sent: ${protocol} is grpc, and the gate sends them over HTTP. Set it to http/json.`);
    return null;
  }
  return {
    endpoint: read(environment, variable),
    variable,
    isWhole: variable === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    headers: readHeaders(environment, issues),
  };
}

function readHeaders(environment: Environment, issues: ConfigurationIssue[]): Map<string, Secret> {
  const headers = new Map<string, Secret>();
  for (const variable of headerVariables) {
    for (const [index, { name, value }] of listPairs(read(environment, variable)).entries()) {
      // Never quotes the entry, which may be nothing but the secret.
      if (value !== null && /^[\w!#$%&'*+.^`|~-]+$/.test(name)) headers.set(name.toLowerCase(), new Secret(value));
      else {
        const message = `entry ${index + 1} is not name=value with a percent-encoded value`;
        issues.push({ input: variable, code: 'bad-header', message });
      }
    }
  }
  return headers;
}

/** Lists every value that the header variables hold, encoded and decoded, whether or not they can be read. */
export function listOtelSecrets(environment: Environment): string[] {
  return headerVariables.flatMap((variable) =>
    listPairs(read(environment, variable)).flatMap(({ raw, value }) => [raw, ...(value === null ? [] : [value])]),
  );
}

/**
 * Reads what describes the traced program: OTEL_RESOURCE_ATTRIBUTES, and OTEL_SERVICE_NAME before it. A list with an entry that cannot be
 * read is left out as a whole, which is a note. OpenTelemetry, "Specifying resource information via an environment variable".
 */
export function readOtelResource(environment: Environment, notes: string[]): Record<string, string> {
  const attributes: Record<string, string> = {};
  const pairs = listPairs(read(environment, 'OTEL_RESOURCE_ATTRIBUTES'));
  if (pairs.some(({ name, value }) => name === '' || value === null)) {
    notes.push(
      'OTEL_RESOURCE_ATTRIBUTES is not a list of name=value with percent-encoded values, so the traces are without it.',
    );
  } else {
    for (const { name, value } of pairs) attributes[name] = value ?? '';
  }
  const service = read(environment, 'OTEL_SERVICE_NAME');
  return service === '' ? attributes : { ...attributes, 'service.name': service };
}

/** Reads `a=b,c=d` with percent-encoded values; the value is null where it cannot be decoded or there is none. */
function listPairs(text: string): Array<{ name: string; raw: string; value: string | null }> {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const equals = entry.indexOf('=');
      const raw = entry.slice(equals + 1).trim();
      const name = equals === -1 ? '' : entry.slice(0, equals).trim();
      return { name, raw, value: equals === -1 || raw === '' ? null : decode(raw) };
    });
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** An empty variable counts as one that is not set. */
function read(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

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

/** What is traced, and where the traces go; the resource is null where there are none. */
export function planTraces(
  { merge, reportFormats }: Pick<GateOptions, 'merge' | 'reportFormats'>,
  { environment, notes }: { environment: Environment; notes: string[] },
  issues: ConfigurationIssue[],
): { collector: PlannedCollector | null; resource: Record<string, string> | null } {
  const isWritten = reportFormats.includes('otlp');
  // Where reports are joined nothing runs.
  if (merge.length > 0) return { collector: null, resource: null };
  const collector = planCollector(environment, { notes, issues });
  return { collector, resource: isWritten || collector !== null ? readOtelResource(environment, notes) : null };
}
