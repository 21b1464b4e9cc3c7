import { accountOperations } from './account.ts';
import { agentOperations } from './agent.ts';
import { artifactOperations } from './artifacts.ts';
import { caseOperations } from './cases.ts';
import { catalogOperations } from './catalogs.ts';
import { diagnosticsOperations } from './diagnostics.ts';
import { environmentOperations } from './environments.ts';
import { hostOperations } from './hosts.ts';
import { chatOperations } from './chats.ts';
import { imageOperations } from './images.ts';
import { ingestOperations } from './ingest.ts';
import type { Operation } from './operation.ts';
import { primitiveOperations } from './primitives.ts';
import { runComparisonOperations } from './run-comparison.ts';
import { runGroupOperations } from './run-groups.ts';
import { runReviewOperations } from './run-reviews.ts';
import { runOperations } from './runs.ts';
import { serverOperations } from './servers.ts';
import { suiteSettingsOperations } from './suite-settings.ts';
import { suiteOperations } from './suites.ts';
import { traceExportOperations } from './trace-export.ts';
import { tunnelOperations } from './tunnels.ts';

/** Operations, by area and name. */
export type OperationTable = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Every operation of the API, by area. */
export const operations = {
  account: accountOperations,
  servers: serverOperations,
  diagnostics: diagnosticsOperations,
  primitives: primitiveOperations,
  suites: suiteOperations,
  cases: caseOperations,
  runs: { ...runOperations, ...runComparisonOperations, ...runGroupOperations, ...runReviewOperations },
  ingest: { ...ingestOperations, ...artifactOperations },
  tunnels: tunnelOperations,
  agent: agentOperations,
  chats: chatOperations,
  traceExport: traceExportOperations,
  catalogs: catalogOperations,
  environments: environmentOperations,
  hosts: hostOperations,
  suiteSettings: suiteSettingsOperations,
  images: imageOperations,
};

/** Every operation of the API, area by area. */
export function listOperations(): Operation[] {
  return Object.values(operations).flatMap((area) => Object.values<Operation>(area));
}
