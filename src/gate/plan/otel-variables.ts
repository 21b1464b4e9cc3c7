import type { Findings } from '../../base/findings.ts';
import { Secret } from '../../base/redaction.ts';
import { listProxySecrets, readProxySettings } from '../../http/proxy.ts';
import { type CollectorAddress, parseCollectorUrl } from '../../otlp/collector.ts';
import type { GateOptions } from '../options/schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The receiver of the traces, as OpenTelemetry's variables name it. */
interface OtelTarget {
  endpoint: string;
  /** The variable that names it. */
  variable: string;
  /** True if `endpoint` is the whole URL; else `/v1/traces` is added to it. */
  isWhole: boolean;
  headers: ReadonlyMap<string, Secret>;
}

/** The variables in order of precedence, the strongest first. "Endpoint URLs for OTLP/HTTP", OpenTelemetry Protocol Exporter. */
const endpointVariables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const protocolVariables = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;
/** The weakest first: a header of the second variable replaces one of the first. */
const headerVariables = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'] as const;

/**
 * Reads where traces are sent; null if the variables name no endpoint or turn traces off. If the gate cannot send them, a note says why,
 * since the variables may be meant for another program of the job. A header that cannot be read is an issue.
 */
export function readOtelTarget(environment: Environment, findings: Findings): OtelTarget | null {
  const variable = endpointVariables.find((name) => read(environment, name) !== '');
  const exporters = read(environment, 'OTEL_TRACES_EXPORTER');
  const isOff =
    /^true$/i.test(read(environment, 'OTEL_SDK_DISABLED')) ||
    (exporters !== '' && !exporters.split(',').some((name) => name.trim() === 'otlp'));
  if (variable === undefined || isOff) return null;
  const protocol = protocolVariables.find((name) => read(environment, name) !== '');
  if (protocol !== undefined && read(environment, protocol) === 'grpc') {
    findings.note(
      `The traces are not sent: ${protocol} is grpc, and the gate sends them over HTTP. Set it to http/json.`,
    );
    return null;
  }
  return {
    endpoint: read(environment, variable),
    variable,
    isWhole: variable === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    headers: readHeaders(environment, findings),
  };
}

function readHeaders(environment: Environment, findings: Findings): Map<string, Secret> {
  const headers = new Map<string, Secret>();
  for (const variable of headerVariables) {
    for (const [index, { name, value }] of listPairs(read(environment, variable)).entries()) {
      // Never quotes the entry, which may consist of the secret alone.
      if (value !== null && /^[\w!#$%&'*+.^`|~-]+$/.test(name)) headers.set(name.toLowerCase(), new Secret(value));
      else {
        const message = `entry ${index + 1} is not name=value with a percent-encoded value`;
        findings.add({ input: variable, code: 'bad-header', message });
      }
    }
  }
  return headers;
}

/** Lists every value in the header variables, encoded and decoded, whether or not it can be read. */
export function listOtelSecrets(environment: Environment): string[] {
  return headerVariables.flatMap((variable) =>
    listPairs(read(environment, variable)).flatMap(({ raw, value }) => [raw, ...(value === null ? [] : [value])]),
  );
}

/**
 * Reads what describes the traced program: OTEL_RESOURCE_ATTRIBUTES, and OTEL_SERVICE_NAME, which has precedence. A list with an unreadable
 * entry is ignored as a whole and noted. OpenTelemetry, "Specifying resource information via an environment variable".
 */
export function readOtelResource(environment: Environment, findings: Findings): Record<string, string> {
  const attributes: Record<string, string> = {};
  const pairs = listPairs(read(environment, 'OTEL_RESOURCE_ATTRIBUTES'));
  if (pairs.some(({ name, value }) => name === '' || value === null)) {
    findings.note(
      'OTEL_RESOURCE_ATTRIBUTES is not a list of name=value with percent-encoded values, so the traces are without it.',
    );
  } else {
    for (const { name, value } of pairs) attributes[name] = value ?? '';
  }
  const service = read(environment, 'OTEL_SERVICE_NAME');
  return service === '' ? attributes : { ...attributes, 'service.name': service };
}

/** Reads `a=b,c=d` with percent-encoded values; a value is null if it cannot be decoded or is missing. */
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

/** Reads a variable. An empty one counts as not set. */
function read(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

/** The OpenTelemetry collector that the traces are sent to. */
export interface PlannedCollector extends CollectorAddress {
  secrets: readonly Secret[];
}

/** Plans where the traces are sent; null for nowhere. */
function planCollector(environment: Environment, findings: Findings): PlannedCollector | null {
  const target = readOtelTarget(environment, findings);
  if (target === null) return null;
  const { headers } = target;
  const planned = findings.attempt(() => {
    const url = parseCollectorUrl(target);
    const proxy = readProxySettings(environment);
    return { url, headers, proxy, secrets: [...headers.values(), ...listProxySecrets(proxy)] };
  });
  return planned ?? null;
}

/** The traces of a gate. */
export interface PlannedTraces {
  /** True if traces are written for OpenTelemetry. */
  hasTraceLog: boolean;
  /** The description of the traced program from the environment, in addition to what the gate knows. */
  traceResource: Readonly<Record<string, string>>;
  /** The receiver of the traces; null for none. */
  collector: PlannedCollector | null;
}

/** Plans the traces and their receiver. A gate that merges reports runs nothing to trace. */
export function planTraces(
  { merge, reportFormats }: Pick<GateOptions, 'merge' | 'reportFormats'>,
  { environment }: { environment: Environment },
  findings: Findings,
): PlannedTraces {
  const collector = merge.length > 0 ? null : planCollector(environment, findings);
  const hasTraceLog = merge.length === 0 && (reportFormats.includes('otlp') || collector !== null);
  return { hasTraceLog, traceResource: hasTraceLog ? readOtelResource(environment, findings) : {}, collector };
}
